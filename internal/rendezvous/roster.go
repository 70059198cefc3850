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
	// every other. Ranks of one machine need no cable.
	Edges []Edge

	way Way // how the ranks were found
}

// SameMachine reports whether two ranks are on one machine. Whether they can share
// memory is for them to find out: they may be in different containers.
func (r *Roster) SameMachine(a, b int) bool { return r.Peers[a].Machine == r.Peers[b].Machine }

// OneMachine reports whether all ranks are on one machine.
func (r *Roster) OneMachine() bool {
	for _, p := range r.Peers {
		if p.Machine != r.Peers[0].Machine {
			return false
		}
	}
	return true
}

// Machines returns, by rank, a name of its machine: that of the first of its ranks. Unlike
// the names of ranks, they are equal if and only if the machines are.
func (r *Roster) Machines() []string {
	first := map[string]string{}
	names := make([]string, len(r.Peers))
	for i, p := range r.Peers {
		if _, ok := first[p.Machine]; !ok {
			first[p.Machine] = p.Host
		}
		names[i] = first[p.Machine]
	}
	return names
}

// Size returns the number of ranks.
func (r *Roster) Size() int { return len(r.Peers) }

// A Peer tells where one rank is.
type Peer struct {
	// Host is the name of the machine, for messages; it is not dialed. Machines that have
	// one name get a number after it.
	Host string `json:"host"`
	// Addrs are "host:port", with IPv6 in brackets and link-local IPv6 with its
	// zone ("[fe80::1%en5]:7000"). Each address is a rail.
	Addrs []string `json:"addrs"`
	// Machine is the same for ranks of one machine, and differs otherwise. It means
	// nothing by itself.
	Machine string `json:"machine"`
}
