package collective

import "math/bits"

// overlap is how much of a latency each further message costs that is in flight at
// the same time as others.
const overlap = 0.3

// A cost is what an operation asks of the busiest rank.
type cost struct {
	steps    float64 // messages that wait for each other
	messages float64 // in all
	sent     float64 // in units of 1000 bytes
	reduced  float64 // likewise
}

// latency is how many latencies the messages take.
func (c cost) latency() float64 { return c.steps + float64(overlap*(c.messages-c.steps)) }

// Predict estimates the time of an operation in µs; bytes are as for Choose. A rank
// has one port: messages that it sends to different peers share its bandwidth, but
// their latencies overlap but for a small part. So do the messages that the ranks of
// a host send to others. hosts may be nil: then all links are of one kind.
//
// Ranks on different kinds of processors have to come to the same result, to the last
// bit, so products are rounded before they are added: that is what float64() is for.
func (m Model) Predict(k Kind, a Algo, size int, hosts *Hosts, bytes int) float64 {
	switch {
	case size < 2:
		return 0
	case !hosts.Mixed():
		if a == Hier {
			a = Choose(k, size, bytes)
		}
		link := m.remote()
		if hosts != nil && hosts.Count() == 1 {
			link = m.local()
		}
		return m.time(m.flat(k, a, size, bytes), link)
	case a == Hier:
		return m.hier(k, hosts, bytes)
	}
	return m.across(k, a, size, hosts, bytes)
}

// time is what a cost takes on links of one kind.
func (m Model) time(c cost, l LinkCost) float64 {
	return float64(c.latency()*l.Alpha) + float64(c.sent*l.Beta) + float64(c.reduced*m.Gamma)
}

// flat is what an operation asks of ranks that are all joined equally.
func (m Model) flat(k Kind, a Algo, size, bytes int) cost {
	n, v := float64(size), float64(bytes)/1000
	log := float64(bits.Len(uint(size - 1)))
	// In units of the vector, or of a block.
	of := func(steps, messages, sent, reduced float64) cost {
		return cost{steps, messages, sent * v, reduced * v}
	}
	switch k {
	case AllReduce:
		switch a {
		case Direct:
			return of(1, n-1, n-1, n-1)
		case Doubling:
			return of(log, log, log, log)
		case Tree:
			return of(2*log, 2*log, 2*log, log)
		case HalvingDoubling:
			return of(2*log, 2*log, 2*(n-1)/n, (n-1)/n)
		}
		return of(2*(n-1), 2*(n-1), 2*(n-1)/n, (n-1)/n)
	case ReduceScatter, AllGather:
		reduced := 0.0
		if k == ReduceScatter {
			reduced = n - 1
		}
		switch a {
		case Direct:
			return of(1, n-1, n-1, reduced)
		case Doubling, HalvingDoubling:
			return of(log, log, n-1, reduced)
		}
		return of(n-1, n-1, n-1, reduced)
	case Broadcast, Reduce:
		reduced := 0.0
		if k == Reduce {
			reduced = 1
		}
		switch a {
		case Direct:
			return of(1, n-1, n-1, reduced*(n-1))
		case Tree:
			return of(log, log, log, reduced*log)
		}
		return of(n-1, n-1, 1, reduced) // a pipeline
	case Gather, Scatter:
		if a == Tree {
			return of(log, log, n-1, 0)
		}
		return of(1, n-1, n-1, 0)
	case AllToAll:
		return of(1, n-1, n-1, 0)
	case Barrier:
		switch a {
		case Direct:
			return of(1, n-1, 0, 0)
		case Tree:
			return of(2*log, 2*log, 0, 0)
		}
		return of(log, log, 0, 0)
	}
	return of(1, 1, 1, 0)
}

// across is the time of an operation that does not care for hosts. A part of its
// messages crosses between them, and the ranks of a host share the way out.
func (m Model) across(k Kind, a Algo, size int, hosts *Hosts, bytes int) float64 {
	c, near, far := m.flat(k, a, size, bytes), m.local(), m.remote()
	most := float64(hosts.most)
	crossing := (float64(size) - most) / float64(size-1) // of the messages of a rank
	way := float64((1-crossing)*near.Beta) + float64(crossing*most*far.Beta)
	switch {
	case a == Ring || a == BiRing:
		// All links are busy at once, and the slowest sets the pace.
		crossing = float64(hosts.ways) / float64(size)
		way = max(near.Beta, float64(hosts.busiest)*far.Beta)
	case k.Rooted() || a == Tree:
		// Few ranks of a host send at the same time.
		way = float64((1-crossing)*near.Beta) + float64(crossing*far.Beta)
	}
	alpha := float64((1-crossing)*near.Alpha) + float64(crossing*far.Alpha)
	return m.time(c, LinkCost{alpha, way})
}

// hier is the time of the host-first algorithms.
func (m Model) hier(k Kind, hosts *Hosts, bytes int) float64 {
	n, per := hosts.Count(), hosts.most
	v, h, r := float64(bytes)/1000, float64(n), float64(per)
	logHosts, logRanks := float64(bits.Len(uint(n-1))), float64(bits.Len(uint(per-1)))
	far := m.remote()
	shared := LinkCost{far.Alpha, r * far.Beta} // when all ranks of a host send at once
	var near, out float64
	windows := min(max(1, float64(bytes)/DefaultSegment), hierWindows)
	switch k {
	case AllReduce:
		share := max(bytes/per, min(bytes, windowBytes/hierShare))
		if share == bytes {
			shared = far // only one rank of the host sends
		}
		near = m.time(cost{2, 2 * (r - 1), 2 * v * (r - 1) / r, v * (r - 1) / r}, m.local())
		out = m.time(m.flat(AllReduce, Choose(AllReduce, n, share), n, share), shared)
		windows = min(max(1, float64(bytes)/windowBytes), hierWindows)
	case ReduceScatter:
		near = m.time(cost{1, h * (r - 1), h * (r - 1) * v, h * (r - 1) * v}, m.local())
		out = m.time(cost{1, h - 1, (h - 1) * v, (h - 1) * v}, shared)
	case AllGather:
		near = m.time(cost{2, h * (r - 1), h * (r - 1) * v, 0}, m.local())
		out = m.time(cost{1, h - 1, (h - 1) * v, 0}, shared)
	case Broadcast, Reduce:
		reduced := 0.0
		if k == Reduce {
			reduced = v
		}
		if bytes > windowBytes/hierChain {
			near = m.time(cost{r - 1, r - 1, v, reduced}, m.local())
			out = m.time(cost{h - 1, h - 1, v, reduced}, far)
			break
		}
		near = m.time(cost{logRanks, logRanks, logRanks * v, logRanks * reduced}, m.local())
		out = m.time(cost{logHosts, logHosts, logHosts * v, logHosts * reduced}, far)
	case Barrier:
		near = m.time(cost{2, 2 * (r - 1), 0, 0}, m.local())
		out = m.time(cost{logHosts, logHosts, 0, 0}, far)
	}
	// Of several pieces, one is within the hosts while another is between them.
	return max(near, out) + min(near, out)/windows
}
