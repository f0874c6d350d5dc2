package limit

import (
	"errors"
	"testing"
	"testing/fstest"
)

// system is a root folder with files.
func system(files map[string]string) fstest.MapFS {
	root := fstest.MapFS{}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return root
}

// meminfo is the beginning of /proc/meminfo of a machine with 21 GiB available.
const meminfo = "MemTotal:       24689764 kB\nMemFree:         9031424 kB\nMemAvailable:   22020096 kB\n"

// version1 is /proc/self/cgroup of a machine with version 1, by podman.
const version1 = "9:name=systemd:/\n8:pids:/libpod_parent/libpod-5a\n4:memory:/libpod_parent/libpod-5a\n2:cpu,cpuacct:/\n0::/\n"

// limits is /proc/self/limits, with a soft limit of processes.
func limits(processes string) string {
	return "Limit                     Soft Limit           Hard Limit           Units     \n" +
		"Max cpu time              unlimited            unlimited            seconds   \n" +
		"Max processes             " + processes + "                96365                processes \n"
}

func TestReadMachine(t *testing.T) {
	t.Parallel()
	const container, group = "the container (cgroup)", "the control group "
	const user = "the limit of processes of this user (ulimit -u)"
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  Machine
	}{
		{"nothing known", nil, Machine{}},
		{"the machine alone", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n"}, Machine{Memory: Room{Free: 21 << 30}}},
		{"version 2, a container", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "157286400\n", "sys/fs/cgroup/memory.high": "max\n", "sys/fs/cgroup/memory.current": "62914560\n",
			"sys/fs/cgroup/memory.stat": "anon 41943040\nfile 20971520\ninactive_file 10485760\nactive_file 1\n",
			"sys/fs/cgroup/pids.max":    "100\n", "sys/fs/cgroup/pids.current": "14\n",
		}, Machine{Room{100 << 20, 150 << 20, container}, Room{86, 100, container}}},
		{"version 2, the tightest is above", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a.slice/b.scope\n",
			"sys/fs/cgroup/a.slice/b.scope/memory.max": "max\n", "sys/fs/cgroup/a.slice/b.scope/memory.current": "1048576\n",
			"sys/fs/cgroup/a.slice/memory.max": "2147483648\n", "sys/fs/cgroup/a.slice/memory.high": "1073741824\n",
			"sys/fs/cgroup/a.slice/memory.current": "536870912\n",
			"sys/fs/cgroup/a.slice/pids.max":       "500\n", "sys/fs/cgroup/a.slice/pids.current": "100\n",
			"sys/fs/cgroup/a.slice/b.scope/pids.max": "450\n", "sys/fs/cgroup/a.slice/b.scope/pids.current": "10\n",
		}, Machine{Room{512 << 20, 1 << 30, group + "/a.slice"}, Room{400, 500, group + "/a.slice"}}},
		{"version 2, more than the machine has", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "32212254720\n", "sys/fs/cgroup/memory.current": "0\n",
		}, Machine{Memory: Room{Free: 21 << 30}}},
		{"version 2, full", map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "10\n", "sys/fs/cgroup/memory.current": "11\n",
			"sys/fs/cgroup/pids.max": "10\n", "sys/fs/cgroup/pids.current": "11\n",
		}, Machine{Room{1, 10, container}, Room{0, 10, container}}},
		{"version 2, outside of the namespace", map[string]string{
			"proc/self/cgroup":       "0::/../../other\n",
			"sys/fs/cgroup/pids.max": "100\n", "sys/fs/cgroup/pids.current": "14\n",
		}, Machine{Processes: Room{86, 100, container}}},
		{"version 1, the tree of the host", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": version1,
			"sys/fs/cgroup/memory/memory.limit_in_bytes":                         "9223372036854771712\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes":                         "10000000000\n",
			"sys/fs/cgroup/memory/libpod_parent/libpod-5a/memory.limit_in_bytes": "157286400\n",
			"sys/fs/cgroup/memory/libpod_parent/libpod-5a/memory.usage_in_bytes": "62914560\n",
			"sys/fs/cgroup/memory/libpod_parent/libpod-5a/memory.stat":           "inactive_file 1\ntotal_inactive_file 10485760\n",
			"sys/fs/cgroup/pids/libpod_parent/libpod-5a/pids.max":                "30\n",
			"sys/fs/cgroup/pids/libpod_parent/libpod-5a/pids.current":            "9\n",
		}, Machine{Room{100 << 20, 150 << 20, group + "/libpod_parent/libpod-5a"}, Room{21, 30, group + "/libpod_parent/libpod-5a"}}},
		{"version 1, a container that sees its group at the top", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": version1,
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "157286400\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "52428800\n",
			"sys/fs/cgroup/pids/pids.max": "30\n", "sys/fs/cgroup/pids/pids.current": "9\n",
		}, Machine{Room{100 << 20, 150 << 20, container}, Room{21, 30, container}}},
		{"ulimit -u", map[string]string{
			"proc/self/limits": limits("200"), "proc/self/status": "Name:\tswarm\nUid:\t1000\t1000\t1000\t1000\n",
			"proc/7/status": "Uid:\t1000\t0\t0\t0\nThreads:\t12\n", "proc/8/status": "Uid:\t1000\t1000\t1000\t1000\nThreads:\t3\n",
			"proc/9/status": "Uid:\t1001\t1001\t1001\t1001\nThreads:\t90\n", "proc/10/cmdline": "",
		}, Machine{Processes: Room{185, 200, user}}},
		{"ulimit -u of root", map[string]string{
			"proc/self/limits": limits("200"), "proc/self/status": "Uid:\t0\t0\t0\t0\n",
			"proc/self/uid_map": "         0          0 4294967295\n",
		}, Machine{}},
		{"ulimit -u of root in a user namespace", map[string]string{
			"proc/self/limits": limits("200"), "proc/self/status": "Uid:\t0\t0\t0\t0\n",
			"proc/self/uid_map": "         0       1000          1\n", "proc/1/status": "Uid:\t0\t0\t0\t0\nThreads:\t12\n",
		}, Machine{Processes: Room{188, 200, user}}},
		{"no ulimit -u", map[string]string{
			"proc/self/limits": limits("unlimited"), "proc/self/status": "Uid:\t1000\t1000\t1000\t1000\n",
		}, Machine{}},
	} {
		if got := readMachine(system(tc.files)); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

// TestMachineJobs bounds the agents by memory and by processes, and refuses a
// run where no agent fits.
func TestMachineJobs(t *testing.T) {
	t.Parallel()
	processes := func(free int64) Room { return Room{Free: free, Limit: 2048, By: "the container (cgroup)"} }
	for _, tc := range []struct {
		name       string
		give       Machine
		jobs, most int
		err        string // empty: an agent fits
	}{
		{"no limits", Machine{}, 100, 100, ""},
		{"podman's default", Machine{Processes: processes(2030)}, 100, 100, ""},
		{"a hundred processes", Machine{Processes: processes(86)}, 3, 3, ""},
		{"one fits", Machine{Processes: processes(44)}, 1, 1, ""},
		{"none fits", Machine{Processes: processes(43)}, 1, 1,
			"no agent fits: swarm and one agent need 44 processes and threads, and the container (cgroup) leaves 43"},
		{"memory is tighter", Machine{Memory: Room{Free: 2 << 30}, Processes: processes(1000)}, 16, 48, ""},
		{"a small container", Machine{Memory: Room{100 << 20, 150 << 20, "the container (cgroup)"}}, 1, 100, ""},
		{"half a gibibyte", Machine{Memory: Room{450 << 20, 512 << 20, "the container (cgroup)"}}, 5, 100, ""},
		{"a tiny container", Machine{Memory: Room{20 << 20, 40 << 20, "the container (cgroup)"}}, 1, 100,
			"no agent fits: swarm and one agent need 32 MiB, and the container (cgroup) leaves 20 MiB"},
		{"a machine at its limit", Machine{Memory: Room{Free: 20 << 20}}, 1, 100, ""},
	} {
		if jobs, most := tc.give.Jobs(CommandFootprint), tc.give.MostJobs(); jobs != tc.jobs || most != tc.most {
			t.Errorf("%s: %d jobs of at most %d, want %d of %d", tc.name, jobs, most, tc.jobs, tc.most)
		}
		err := tc.give.Check()
		var room *RoomError
		if tc.err == "" && err != nil || tc.err != "" && (!errors.As(err, &room) || err.Error() != tc.err || room.Hint() == "") {
			t.Errorf("%s: Check = %v, want %q", tc.name, err, tc.err)
		}
	}
}

// FuzzReadMachine: no text of the kernel's files panics or makes a room that is
// negative or above its limit.
func FuzzReadMachine(f *testing.F) {
	f.Add("0::/a/b\n", "100\n", "14\n", "inactive_file 4\n", limits("200"))
	f.Add(version1, "9223372036854771712\n", "max\n", "", limits("unlimited"))
	f.Add("0::/../..\n4:memory\n:::\n", "-1", "99999999999999999999", "inactive_file -4\ninactive_file", "Max processes \n")
	f.Fuzz(func(t *testing.T, groups, limit, used, stat, limits string) {
		files := map[string]string{
			"proc/self/cgroup": groups, "proc/self/limits": limits, "proc/self/status": "Uid:\t1\t1\n" + stat,
			"proc/7/status": "Uid:\t1\n" + stat, "proc/meminfo": stat,
		}
		for _, dir := range []string{"sys/fs/cgroup/", "sys/fs/cgroup/a/", "sys/fs/cgroup/memory/", "sys/fs/cgroup/pids/"} {
			for _, name := range []string{"memory.max", "memory.high", "memory.limit_in_bytes", "pids.max"} {
				files[dir+name] = limit
			}
			for _, name := range []string{"memory.current", "memory.usage_in_bytes", "pids.current"} {
				files[dir+name] = used
			}
			files[dir+"memory.stat"] = stat
		}
		m := readMachine(system(files))
		for _, r := range []Room{m.Memory, m.Processes} {
			if r.Free < 0 || r.Limit < 0 || r.Limit > 0 && (r.Free > r.Limit || r.By == "") {
				t.Errorf("the room is %+v", r)
			}
		}
		if n := m.Jobs(CommandFootprint); n < 1 || n > MaxJobs {
			t.Errorf("%d jobs", n)
		}
	})
}
