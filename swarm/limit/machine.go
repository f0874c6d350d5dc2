package limit

import (
	"bytes"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

const (
	// AgentProcesses is the number of processes and threads that an agent is
	// expected to need: 7 threads of its supervisor, 11 of an agent that runs
	// on Node, a shell and its command.
	AgentProcesses = 20
	// ownProcesses are kept for swarm and for git, beside the processes that
	// already run. Ten agents were measured with 15 threads of swarm, of which
	// few are there when it begins, and 7 of git and its keeper.
	ownProcesses = 24
	// leastMemory is what a supervisor, git and the smallest agent need
	// together, in bytes.
	leastMemory = 32 << 20
)

// Machine is the room for new programs: of this machine, of the control groups
// around this process, and of its user.
type Machine struct {
	Memory    Room // bytes
	Processes Room // processes and threads
}

// Room is the free part of a resource. Its zero value is unknown, and bounds
// nothing.
type Room struct {
	Free int64
	// Limit is the bound that decides Free. It is 0 where no bound is set: then
	// Free is that of the machine.
	Limit int64
	By    string // the origin of Limit, for people
}

// reserve is the memory that is left to everything else: less in a small
// container, which runs nothing else.
func (r Room) reserve() int64 {
	if r.Limit > 0 {
		return min(reserve, r.Limit/4)
	}
	return reserve
}

// ReadMachine measures the room of this process.
func ReadMachine() Machine { return readMachine(os.DirFS("/")) }

// ReadMemory measures the memory that new programs can have without swapping: by
// the kernel's estimate and by the limits of control groups.
func ReadMemory() Room { return readMemory(os.DirFS("/")) }

// MemAvailable is the free part of [ReadMemory], in bytes; 0: it is unknown.
func MemAvailable() int64 { return ReadMemory().Free }

// readMachine measures by the files below the root folder of a system.
func readMachine(root fs.FS) Machine {
	processes := tightest(root, pidsController())
	if user := userRoom(root); user.Limit > 0 {
		processes = tighter(processes, user)
	}
	return Machine{Memory: readMemory(root), Processes: processes}
}

func readMemory(root fs.FS) Room {
	free := kernelMemory(root)
	room := tightest(root, memoryController())
	if room.Limit == 0 || free > 0 && free < room.Free {
		return Room{Free: free}
	}
	room.Free = max(1, room.Free) // 0 is unknown
	return room
}

// Jobs is the number of agents of a footprint that run at once: at least 1, at
// most [MaxJobs].
func (m Machine) Jobs(footprint int64) int {
	if m.Memory.Free <= 0 || footprint <= 0 {
		return m.MostJobs()
	}
	return min(int(max(1, min(MaxJobs, (m.Memory.Free-m.Memory.reserve())/footprint))), m.MostJobs())
}

// MostJobs is the number of agents for which there are processes: at least 1,
// at most [MaxJobs].
func (m Machine) MostJobs() int {
	if m.Processes.Limit == 0 {
		return MaxJobs
	}
	return int(max(1, min(MaxJobs, (m.Processes.Free-ownProcesses)/AgentProcesses)))
}

// RoomError reports that a limit leaves no room for a single agent.
type RoomError struct {
	Room Room
	Need string // such as "48 processes"
	Free string
}

func (e *RoomError) Error() string {
	return "no agent fits: swarm and one agent need " + e.Need + ", and " + e.Room.By + " leaves " + e.Free
}

// Hint returns the way out.
func (e *RoomError) Hint() string {
	return "raise the limit (of a container: --memory, --pids-limit), or end other programs below it"
}

// Check returns a [*RoomError] if a limit leaves no room for a single agent.
func (m Machine) Check() error {
	if r := m.Memory; r.Limit > 0 && r.Free < leastMemory {
		return &RoomError{Room: r, Need: mebibytes(leastMemory), Free: mebibytes(r.Free)}
	}
	const need = ownProcesses + AgentProcesses
	if r := m.Processes; r.Limit > 0 && r.Free < need {
		return &RoomError{Room: r, Need: strconv.Itoa(need) + " processes and threads", Free: strconv.FormatInt(r.Free, 10)}
	}
	return nil
}

func mebibytes(n int64) string { return strconv.FormatInt(n>>20, 10) + " MiB" }

// controller is a resource that control groups bound, by the names of its
// files. Version 1 of control groups has a tree for each controller.
type controller struct {
	name     string
	max      []string // the least counts
	used     string
	cache    string // the field of memory.stat with memory that is given back at need
	version1 *controller
}

func memoryController() controller {
	return controller{
		name: "memory", max: []string{"memory.max", "memory.high"}, used: "memory.current", cache: "inactive_file",
		version1: &controller{
			name: "memory", max: []string{"memory.limit_in_bytes"}, used: "memory.usage_in_bytes", cache: "total_inactive_file",
		},
	}
}

func pidsController() controller {
	c := controller{name: "pids", max: []string{"pids.max"}, used: "pids.current"}
	first := c
	c.version1 = &first
	return c
}

// tightest is the room of the group with the least of it, among the group of
// this process and those above it.
func tightest(root fs.FS, c controller) (room Room) {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return Room{}
	}
	for line := range strings.Lines(string(text)) {
		// 0::/path, or 4:memory:/path of version 1 (cgroups(7)).
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(parts) != 3:
		case parts[0] == "0" && parts[1] == "":
			room = tighter(room, walk(root, "sys/fs/cgroup", parts[2], c))
		case hasName(parts[1], c.name):
			room = tighter(room, walk(root, "sys/fs/cgroup/"+parts[1], parts[2], *c.version1))
		}
	}
	return room
}

func hasName(list, name string) bool {
	return strings.Contains(","+list+",", ","+name+",")
}

// walk is the tightest room of a group and those above it. A container may see
// its own group at the top of the tree, while the path is that of the host: its
// folders do not exist and are passed over.
func walk(root fs.FS, top, group string, c controller) (room Room) {
	group = path.Clean("/" + group)
	for {
		room = tighter(room, c.room(root, path.Join(top, group), group))
		if group == "/" {
			return room
		}
		group = path.Dir(group)
	}
}

// room reads the files of a group.
func (c controller) room(root fs.FS, dir, group string) Room {
	limit := int64(0)
	for _, name := range c.max {
		if n, ok := number(root, path.Join(dir, name)); ok && (limit == 0 || n < limit) {
			limit = max(1, n)
		}
	}
	used, ok := number(root, path.Join(dir, c.used))
	if limit == 0 || !ok {
		return Room{}
	}
	if c.cache != "" {
		used -= min(used, statField(root, path.Join(dir, "memory.stat"), c.cache))
	}
	by := "the container (cgroup)"
	if group != "/" {
		by = "the control group " + group
	}
	return Room{Free: max(0, limit-used), Limit: limit, By: by}
}

// unlimited is what version 1 shows for no limit, less the pages that it rounds
// off, and more than any machine has.
const unlimited = math.MaxInt64 >> 1

// number reads a file with a number; "max" and other text is no number.
func number(root fs.FS, name string) (int64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	return natural(string(bytes.TrimSpace(text)))
}

// natural reads a number that bounds something.
func natural(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0 && n < unlimited
}

// statField is a field of a file with a name and a number on each line.
func statField(root fs.FS, name, field string) int64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == field {
			n, _ := natural(words[1])
			return n
		}
	}
	return 0
}

// tighter is the room with less of it; a room without a limit bounds nothing.
func tighter(a, b Room) Room {
	if a.Limit == 0 || b.Limit > 0 && b.Free < a.Free {
		return b
	}
	return a
}

// kernelMemory is MemAvailable of /proc/meminfo, in bytes; 0: unknown.
func kernelMemory(root fs.FS) int64 {
	kib := statField(root, "proc/meminfo", "MemAvailable:")
	return min(kib, unlimited>>10) << 10
}

// userRoom is the room below RLIMIT_NPROC, which counts the threads of a user.
// It does not bind the root user of the machine (getrlimit(2)).
func userRoom(root fs.FS) Room {
	limit, uid := processLimit(root), userOf(root, "proc/self")
	if limit == 0 || uid == "" || uid == "0" && !inUserNamespace(root) {
		return Room{}
	}
	entries, err := fs.ReadDir(root, "proc")
	if err != nil {
		return Room{}
	}
	used := int64(0)
	for _, e := range entries {
		if _, isPid := natural(e.Name()); isPid && userOf(root, "proc/"+e.Name()) == uid {
			used += max(1, statField(root, "proc/"+e.Name()+"/status", "Threads:"))
		}
	}
	return Room{Free: max(0, limit-used), Limit: limit, By: "the limit of processes of this user (ulimit -u)"}
}

// processLimit is the soft limit of processes; 0: none.
func processLimit(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/self/limits")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Max processes "); ok {
			if words := strings.Fields(rest); len(words) > 0 {
				n, ok := natural(words[0])
				if ok {
					return max(1, n)
				}
			}
		}
	}
	return 0
}

// userOf is the real user of a process; empty: unknown.
func userOf(root fs.FS, dir string) string {
	text, err := fs.ReadFile(root, dir+"/status")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "Uid:" {
			return words[1]
		}
	}
	return ""
}

// inUserNamespace reports whether the users of this process are not those of
// the machine.
func inUserNamespace(root fs.FS) bool {
	text, err := fs.ReadFile(root, "proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(text)), " ") != "0 0 4294967295"
}
