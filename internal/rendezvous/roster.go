package rendezvous

// MaxSize is the largest number of ranks in a job.
const MaxSize = 4096

// MaxRails is the largest number of addresses of a rank.
const MaxRails = 64

// A Roster is the result of a rendezvous: who is in the job.
type Roster struct {
	Rank       int    // of this process
	Generation uint32 // of the job
	Peers      []Peer // by rank, this process included
	// Edges are the cables between the ranks. If there are none, every rank reaches
	// every other. Ranks of one host need no cable.
	Edges []Edge
}

// Size returns the number of ranks.
func (r *Roster) Size() int { return len(r.Peers) }

// A Peer tells where one rank is.
type Peer struct {
	// Host is the name of the machine, for messages; it is not dialed.
	Host string `json:"host"`
	// Addrs are "host:port", with IPv6 in brackets and link-local IPv6 with its
	// zone ("[fe80::1%en5]:7000"). Each address is a rail.
	Addrs []string `json:"addrs"`
}
