package proc

// Memory is 0: this system does not report the memory of processes.
func Memory(int) int64 { return 0 }
