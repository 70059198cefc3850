package rendezvous

// MaxSize is the largest number of ranks a job may have.
const MaxSize = 4096

// MaxRails is the largest number of addresses a rank may have.
const MaxRails = 64

// A Roster is what a rendezvous results in, whichever way it took.
type Roster struct {
	Rank       int    // of this process
	Generation uint32 // of the job
	Peers      []Peer // by rank, this process included
	// Edges are the cables between the ranks. Empty: every rank reaches every
	// other. Ranks of one host reach each other without.
	Edges []Edge
}

// Size is the number of ranks.
func (r *Roster) Size() int { return len(r.Peers) }

// A Peer is how one rank is reached.
type Peer struct {
	// Host names the machine for people; it is not dialed.
	Host string `json:"host"`
	// Addrs are "host:port", with IPv6 in brackets and link-local IPv6 with its
	// zone ("[fe80::1%en5]:7000"). Several addresses are several rails.
	Addrs []string `json:"addrs"`
}
