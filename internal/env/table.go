package env

// The variables that Go code reads or sets.
const (
	Rank              = "THUNDER_RANK"
	WorldSize         = "THUNDER_WORLD_SIZE"
	LocalRank         = "THUNDER_LOCAL_RANK"
	LocalWorldSize    = "THUNDER_LOCAL_WORLD_SIZE"
	Coordinator       = "THUNDER_COORDINATOR"
	CoordinatorServed = "THUNDER_COORDINATOR_SERVED"
	Addr              = "THUNDER_ADDR"
	Ports             = "THUNDER_PORTS"
	Hostfile          = "THUNDER_HOSTFILE"
	Edges             = "THUNDER_EDGES"
	Generation        = "THUNDER_GENERATION"
	StartTimeout      = "THUNDER_START_TIMEOUT"

	Token     = "THUNDER_TOKEN"
	TokenFile = "THUNDER_TOKEN_FILE"
	Insecure  = "THUNDER_INSECURE"

	Timeout          = "THUNDER_TIMEOUT"
	HeartbeatTimeout = "THUNDER_HEARTBEAT_TIMEOUT"

	Fabric      = "THUNDER_FABRIC"
	RDMADevices = "THUNDER_RDMA_DEVICES"
	RDMAGID     = "THUNDER_RDMA_GID"
	Checksum    = "THUNDER_CHECKSUM"
	NoPeerReads = "THUNDER_NO_PEER_READS"
	NoHugePages = "THUNDER_NO_HUGE_PAGES"
	ShmPortable = "THUNDER_SHM_PORTABLE"

	Profile   = "THUNDER_PROFILE"
	Calibrate = "THUNDER_CALIBRATE"
	Segment   = "THUNDER_SEGMENT"
	Kernels   = "THUNDER_KERNELS"

	Log     = "THUNDER_LOG"
	DumpDir = "THUNDER_DUMP_DIR"
	Metrics = "THUNDER_METRICS"

	Bound     = "THUNDER_BOUND"
	BlameFile = "THUNDER_BLAME_FILE"
	LaunchID  = "THUNDER_LAUNCH_ID"
)

// table lists the variables in the order in which they are printed.
var table = []Var{
	{Name: Rank, Part: Join, Kind: Number, Max: 4095, Launcher: true,
		About: "this rank, from 0"},
	{Name: WorldSize, Part: Join, Kind: Number, Min: 1, Max: 4096, Launcher: true,
		About: "number of ranks in the job"},
	{Name: LocalRank, Part: Join, Kind: Number, Max: 4095, Launcher: true,
		About: "this rank among those of its machine, from 0"},
	{Name: LocalWorldSize, Part: Join, Kind: Number, Min: 1, Max: 4096, Launcher: true,
		About: "number of ranks on this machine"},
	{Name: Coordinator, Part: Join, Kind: Address, Launcher: true,
		About: "host:port where the ranks meet"},
	{Name: CoordinatorServed, Part: Join, Kind: Bool, Default: "0", Launcher: true,
		About: "the launcher serves the coordinator, instead of rank 0"},
	{Name: Addr, Part: Join, Kind: Addresses, Launcher: true, Default: "by the route",
		About: "host:port where this rank listens, one per rail; needs a coordinator"},
	{Name: Ports, Part: Join, Kind: PortsKind, Default: "any",
		About: "where ranks that are given no port listen and meet: 7000-7099"},
	{Name: Hostfile, Part: Join, Kind: Path,
		About: "file with the addresses of all ranks, used without a coordinator"},
	{Name: Edges, Part: Join, Kind: Text, Launcher: true, Default: "all, or the hostfile's",
		About: "which ranks are joined by cables: 0-1,1-2@10"},
	{Name: Generation, Part: Join, Kind: Number, Max: 1<<32 - 1, Default: "0", Launcher: true,
		About: "how often the job was restarted"},
	{Name: StartTimeout, Part: Join, Kind: Duration, Default: "1m0s",
		About: "how far apart ranks may start"},

	{Name: Token, Part: Security, Kind: Secret,
		About: "the job's secret"},
	{Name: TokenFile, Part: Security, Kind: Path, Launcher: true,
		About: "file with the job's secret, instead of " + Token},
	{Name: Insecure, Part: Security, Kind: Bool, Default: "0",
		About: "listen beyond this machine without a secret"},

	{Name: Timeout, Part: Failures, Kind: Duration, Default: "5m0s",
		About: "time limit of every operation"},
	{Name: HeartbeatTimeout, Part: Failures, Kind: Duration, Default: "2s; 15s on one machine", Old: "THUNDER_SILENCE",
		About: "after how long without a heartbeat a rank counts as lost"},

	{Name: Fabric, Part: Transport, Kind: Choice, Choices: []string{"auto", "tcp", "rdma", "shm", "mem"}, Default: "auto",
		About: "what carries messages; mem is for benchmarks in one process"},
	{Name: RDMADevices, Part: Transport, Kind: List, Default: "those that work",
		About: "RDMA devices to use to every peer, one per rail"},
	{Name: RDMAGID, Part: Transport, Kind: Number, Min: 1, Max: 255, Default: "by address",
		About: "index of the RDMA devices' address (GID)"},
	{Name: Checksum, Part: Transport, Kind: Bool, Default: "0",
		About: "send a checksum with every message over TCP, on all ranks or on none"},
	{Name: NoPeerReads, Part: Transport, Kind: Bool, Default: "0", Old: "THUNDER_PRIVATE",
		About: "keep ranks of this machine from reading this rank's memory"},
	{Name: NoHugePages, Part: Transport, Kind: Bool, Default: "0", Old: "THUNDER_SMALL_PAGES",
		About: "do not ask for huge pages under long buffers"},
	{Name: ShmPortable, Part: Transport, Kind: Bool, Default: "0", Hidden: true,
		About: "share memory on Linux as on other systems"},

	{Name: Profile, Part: Tuning, Kind: Path,
		About: "file of 'thunder tune' to choose algorithms, segments and streams by"},
	{Name: Calibrate, Part: Tuning, Kind: Bool, Default: "0",
		About: "measure what messages cost with the first operation, without a profile"},
	{Name: Segment, Part: Tuning, Kind: Number, Min: 1 << 10, Default: "by cost",
		About: "bytes of the segments in which long messages travel"},
	{Name: Kernels, Part: Tuning, Kind: Choice, Choices: []string{"go", "avx2", "avx512", "neon"}, Default: "the fastest",
		About: "reduction kernels; go if the processor does not have the others"},

	{Name: Log, Part: Diagnostics, Kind: Choice, Choices: []string{"off", "warn", "info", "debug"}, Default: "warn",
		About: "what is written to standard error beside results"},
	{Name: DumpDir, Part: Diagnostics, Kind: Path,
		About: "folder for flight-recorder dumps, for 'thunder inspect'"},
	{Name: Metrics, Part: Diagnostics, Kind: Listen,
		About: "host:port, or a port on loopback, that serves metrics for Prometheus"},

	{Name: Bound, Part: Launch, Kind: Bool, Default: "0", Launcher: true, Hidden: true,
		About: "this rank has processors of its own"},
	{Name: BlameFile, Part: Launch, Kind: Path, Launcher: true, Hidden: true,
		About: "file that names the rank which this one blames for its end"},
	{Name: LaunchID, Part: Launch, Kind: Text, Launcher: true, Hidden: true,
		About: "marks the processes of one launch"},

	{Name: "THUNDER_LIBRARY", Part: Python, Kind: Path, Default: "beside the package",
		About: "the shared library that the Python package loads"},
	{Name: "THUNDER_PYTHON", Part: Python, Kind: Path, Default: "python3", Hidden: true,
		About: "the interpreter that scripts/python-env.sh uses"},
	{Name: "THUNDER_PYTHON_ENV", Part: Python, Kind: Path, Default: "in the cache folder", Hidden: true,
		About: "where scripts/python-env.sh puts its virtual environment"},
	{Name: "THUNDER_REQUIRE_TORCH", Part: Python, Kind: Bool, Default: "0", Hidden: true,
		About: "fail instead of testing without PyTorch and MLX"},

	{Name: "THUNDER_SOAK", Part: Tests, Kind: Number, Hidden: true, About: "how many runs of each fault"},
	{Name: "THUNDER_CHAOS_SEED", Part: Tests, Kind: Text, Hidden: true, About: "the one seed to replay"},
	{Name: "THUNDER_FIGURES", Part: Tests, Kind: Bool, Hidden: true, About: "write the figures of the cable lab"},
	{Name: "THUNDER_LAB_TASK", Part: Tests, Kind: Text, Hidden: true, About: "what a rank of the cable lab does"},
	{Name: "THUNDER_TEST_ADDRS", Part: Tests, Kind: Text, Hidden: true, About: "addresses of a test's ranks"},
	{Name: "THUNDER_TEST_FULL_DISK", Part: Tests, Kind: Text, Hidden: true, About: "marks the process whose disk is full"},
	{Name: "THUNDER_TEST_LEAKS", Part: Tests, Kind: Text, Hidden: true, About: "marks the process that looks for leaks"},
	{Name: "THUNDER_TEST_LINK_LOCAL_RANK", Part: Tests, Kind: Text, Hidden: true, About: "rank of the test over link-local addresses"},
	{Name: "THUNDER_TEST_MIB", Part: Tests, Kind: Text, Hidden: true, About: "buffer size of a test's ranks"},
	{Name: "THUNDER_TEST_MODE", Part: Tests, Kind: Text, Hidden: true, About: "what a test's ranks do"},
	{Name: "THUNDER_TEST_NETNS", Part: Tests, Kind: Text, Hidden: true, About: "marks the process inside a network namespace"},
	{Name: "THUNDER_TEST_RDMA", Part: Tests, Kind: Text, Hidden: true, About: "RDMA device for tests"},
	{Name: "THUNDER_TEST_RDMA_LIMITED", Part: Tests, Kind: Text, Hidden: true, About: "marks the process with little locked memory"},
	{Name: "THUNDER_TEST_RDMA_SECOND", Part: Tests, Kind: Text, Hidden: true, About: "a second RDMA device for tests"},
	{Name: "THUNDER_TEST_RDMA_VICTIM", Part: Tests, Kind: Text, Hidden: true, About: "marks the process that will be killed"},
	{Name: "THUNDER_TEST_ROLE", Part: Tests, Kind: Text, Hidden: true, About: "what a process of a test does"},
	{Name: "THUNDER_TEST_SEED", Part: Tests, Kind: Text, Hidden: true, About: "seed of a test's ranks"},
}

// byName finds the variables of the table.
var byName = func() map[string]*Var {
	m := make(map[string]*Var, len(table))
	for i := range table {
		m[table[i].Name] = &table[i]
		if old := table[i].Old; old != "" {
			m[old] = &table[i]
		}
	}
	return m
}()

// All returns the table.
func All() []Var { return table }

// Lookup returns the variable of a name, which may be its old one; nil if there is none.
func Lookup(name string) *Var { return byName[name] }
