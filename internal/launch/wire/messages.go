package wire

import "time"

// Protocol is the version of the frames. Launcher and agents must agree on it
// before they compare anything else.
const Protocol = 3

// Hello is an agent's introduction.
type Hello struct {
	Protocol int
	Version  string // of the thunder binary
	Path     string // where that binary is
	Host     string // what the machine calls itself
	OS, Arch string // as Go names them
	Addrs    []Addr // the machine's addresses that others may reach
	// Peer and Self are the two ends of the ssh connection as the agent's
	// machine sees them: the launcher's address and its own. "" without ssh.
	Peer, Self string
}

// An Addr is an address of a machine and the interface that has it.
type Addr struct {
	IP, Interface string
}

// Prepare asks an agent to get ready for a generation and to say what it found.
type Prepare struct {
	// Program lists the ways to the program; the first that exists is taken.
	Program []string
	// Dir is the working directory. When it does not exist and is not Required,
	// the home directory takes its place.
	Dir      string
	Required bool
	// Copy says that a tar stream follows, to be unpacked into a fresh folder
	// that takes the place of Dir.
	Copy bool
	// Silence is how long the launcher may be silent before it counts as gone;
	// 0 is for ever, for a connection that cannot be cut without being noticed.
	Silence time.Duration
	// Host is the address at which the others reach this machine, and Ports the
	// ports that have to be free there; 0 asks for any.
	Host  string
	Ports []int
	// Serve asks this agent to serve the job's coordinator, at the first port.
	Serve *Serve
}

// Serve says what a coordinator has to know.
type Serve struct {
	Size       int
	Token      string
	Generation uint32
}

// Ready answers Prepare.
type Ready struct {
	Program string // the one that was found
	Dir     string // the working directory
	Ports   []int  // as asked for
}

// Failed says why an agent cannot go on, or how a run ended.
type Failed struct {
	Code    int    // exit code that this stands for
	Message string // "" for success
}

// Start starts an agent's ranks. Entry i of each list is for Ranks[i].
type Start struct {
	Ranks []int
	Argv  []string
	// Env is added to the agent's own environment: Before for every rank, then
	// the rank's own, then After for every rank. Later ones win.
	Before, After []string
	Env           [][]string
	// Files are written to files that only the user can read, and the variables
	// they are named after set to where they are.
	Files map[string]string
	// Stdin lists the ranks that will get input; the others get none.
	Stdin []int
	// Linger, Grace and Keep are those of local.Config. With Keep, ranks that have
	// ended may be started again by another Start, and the coordinator is served
	// until the next Prepare.
	Linger, Grace time.Duration
	Keep          bool
}

// Next is the generation that a rank would be started in now, if it were started
// alone: the one after that in which the ranks last met, or, if they have not met
// since, that which they wait to meet in.
type Next struct {
	Generation uint32
	Met        bool // the ranks have met at the coordinator at all
}

// Reforming tells of a rank that asks the coordinator for a generation which no
// rank was started in: its program goes on when others die.
type Reforming struct {
	Generation uint32
}

// Started tells of a rank that runs.
type Started struct {
	PID int
	At  time.Duration // since the agent began, by a clock that never jumps
}

// Exited tells of a rank that ended.
type Exited struct {
	Code int           // as a shell reports it: 128 and more for a signal
	How  string        // in words, when it failed; signals have names, their numbers differ between systems
	At   time.Duration // since the agent began, by a clock that never jumps
	// Ending reports whether the agent had sent signals to end the job before.
	Ending bool
	// Blames is the rank because of which it failed, as it said itself; nil if it
	// did not. Why is what it said about that rank.
	Blames *int
	Why    string
}

// Taken says how many bytes of input a rank has read since the last one. The
// launcher keeps at most StdinWindow bytes on the way, so that a rank which does
// not read holds up neither the agent nor its memory.
type Taken struct {
	Bytes int
}

// StdinWindow is how much input may be on its way to one rank.
const StdinWindow = 256 << 10
