package proc

// Memory would be what all that stands below a process holds of the memory;
// nobody tells here.
func Memory(int) int64 { return 0 }
