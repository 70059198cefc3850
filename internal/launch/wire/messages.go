package wire

import "time"

// Protocol is the version of the frames. Launcher and agents compare it before anything
// else.
const Protocol = 3

// Hello is an agent's introduction.
type Hello struct {
	Protocol int
	Version  string // of the thunder binary
	Path     string // path of that binary
	Host     string // the machine's own name
	OS, Arch string // in Go's terms
	Addrs    []Addr // addresses at which others may reach the machine
	// Peer and Self are the two ends of the ssh connection as the agent's machine sees
	// them: the launcher's address and its own. "" without ssh.
	Peer, Self string
}

// An Addr is an address of a machine and its interface.
type Addr struct {
	IP, Interface string
}

// Prepare asks an agent to prepare a generation and to report what it found.
type Prepare struct {
	// Program lists possible paths of the program; the first that exists is used.
	Program []string
	// Dir is the working directory. If it does not exist and is not Required, the home
	// directory is used.
	Dir      string
	Required bool
	// Copy announces a tar stream, to be unpacked into a new directory that replaces Dir.
	Copy bool
	// Silence is how long the launcher may be silent before it counts as gone; 0 means
	// forever, for a connection whose end is always noticed.
	Silence time.Duration
	// Host is the address at which the others reach this machine, and Ports the ports that
	// must be free there; 0 asks for any port.
	Host  string
	Ports []int
	// Serve asks this agent to serve the job's coordinator, at the first port.
	Serve *Serve
}

// Serve is what a coordinator needs to know.
type Serve struct {
	Size       int
	Token      string
	Generation uint32
}

// Ready answers Prepare.
type Ready struct {
	Program string // the path that was found
	Dir     string // the working directory
	Ports   []int  // as requested
}

// Failed reports why an agent cannot continue, or how a run ended.
type Failed struct {
	Code    int    // the corresponding exit code
	Message string // "" for success
}

// Start starts ranks of an agent. Entry i of each list is for Ranks[i].
type Start struct {
	Ranks []int
	Argv  []string
	// Env is added to the agent's own environment: Before for every rank, then the rank's
	// own, then After for every rank. Later entries take precedence.
	Before, After []string
	Env           [][]string
	// Files are written to files that only the user can read. The variables they are named
	// after are set to the paths.
	Files map[string]string
	// Stdin lists the ranks that receive input.
	Stdin []int
	// Linger, Grace and Keep are those of local.Config. With Keep, ranks that have ended
	// may be restarted by another Start, and the coordinator is served until the next
	// Prepare.
	Linger, Grace time.Duration
	Keep          bool
}

// Next is the generation in which a rank would be started now if it were started alone: the
// one after the generation in which the ranks last met or, if they have not met since, the
// one in which they wait.
type Next struct {
	Generation uint32
	Met        bool // whether the ranks have met at the coordinator at all
}

// Reforming reports that a rank asked the coordinator for a generation in which no rank was
// started: its program continues when others die.
type Reforming struct {
	Generation uint32
}

// Started reports that a rank is running.
type Started struct {
	PID int
	At  time.Duration // since the agent started, by a monotonic clock
}

// Exited reports that a rank ended.
type Exited struct {
	Code int           // as a shell reports it: 128 plus the signal number after a signal
	How  string        // in words, if it failed: signal numbers differ between systems, names do not
	At   time.Duration // since the agent started, by a monotonic clock
	// Ending reports whether the agent had already sent signals to end the job.
	Ending bool
	// Blames is the rank that caused it to fail, according to itself; nil if it named none.
	// Why is what it said about that rank.
	Blames *int
	Why    string
}

// Taken reports how many bytes of input a rank has read since the last report. The launcher
// keeps at most StdinWindow bytes under way, so that a rank that does not read neither
// blocks the agent nor fills its memory.
type Taken struct {
	Bytes int
}

// StdinWindow is how much input may be under way to one rank.
const StdinWindow = 256 << 10
