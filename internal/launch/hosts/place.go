package hosts

import "fmt"

// A Machine is one machine of a job and the ranks it runs. Entries of a hostfile with the
// same name are one machine.
type Machine struct {
	Name  string
	Local bool // whether it is this machine
	Ranks []int
}

// A Placement assigns every rank to a machine.
type Placement struct {
	Machines []Machine
	Ranks    []Rank
}

// A Rank is the place of one rank.
type Rank struct {
	Machine   int // index in Placement.Machines
	LocalRank int // among the ranks of that machine
	Host      int // index of the entry it came from
}

// Place assigns ranks to hosts in the order of the list: the first ranks to the first host,
// as many as it has slots.
func Place(list []Host) Placement {
	var p Placement
	index := map[string]int{}
	for i, h := range list {
		m, ok := index[h.Name]
		if !ok {
			m = len(p.Machines)
			index[h.Name] = m
			p.Machines = append(p.Machines, Machine{Name: h.Name, Local: h.Local()})
		}
		for range h.Slots {
			p.Ranks = append(p.Ranks, Rank{Machine: m, LocalRank: len(p.Machines[m].Ranks), Host: i})
			p.Machines[m].Ranks = append(p.Machines[m].Ranks, len(p.Ranks)-1)
		}
	}
	return p
}

// First returns the first n slots of the list.
func First(list []Host, n int) ([]Host, error) {
	var out []Host
	left := n
	for _, h := range list {
		if left == 0 {
			break
		}
		h.Slots = min(h.Slots, left)
		left -= h.Slots
		out = append(out, h)
	}
	switch {
	case n < 1:
		return nil, fmt.Errorf("%d ranks; want 1 or more", n)
	case left > 0:
		return nil, fmt.Errorf("%d ranks, but the hosts have only %d slots; use host:slots for more", n, n-left)
	}
	return out, nil
}

// Size returns the number of ranks.
func (p Placement) Size() int { return len(p.Ranks) }

// Devices returns the RDMA device that leads from each rank to each other rank, as MLX's
// jaccl expects it; nil if a host does not name its devices. A pair on the same host has
// none.
func Devices(list []Host, p Placement) [][][]string {
	for _, h := range list {
		if len(h.RDMA) == 0 {
			return nil
		}
	}
	m := make([][][]string, p.Size())
	for i, from := range p.Ranks {
		m[i] = make([][]string, p.Size())
		for j, to := range p.Ranks {
			if from.Host != to.Host {
				m[i][j] = list[from.Host].RDMA[to.Host]
			}
		}
	}
	return m
}
