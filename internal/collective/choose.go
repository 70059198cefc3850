package collective

// Choose picks the algorithm for an operation on size ranks. bytes is the length
// of the vector, or of one block for the operations that have blocks (the mean
// where they differ). It is a pure function, so ranks that agree on the operation
// agree on the algorithm.
//
// The thresholds reflect two costs: a message takes about 10 µs, and a rank moves
// 2 to 3 GB/s; the time of a message is worth some 32 KiB.
func Choose(k Kind, size, bytes int) Algo {
	const KiB = 1 << 10
	switch k {
	case AllReduce:
		switch {
		case bytes <= 32*KiB && bytes*size <= 128*KiB:
			return Direct // every rank sends and reduces size-1 vectors
		case bytes <= 16*KiB:
			return Doubling
		case bytes <= 512*KiB && size > 3:
			return HalvingDoubling
		}
		return Ring
	case ReduceScatter:
		switch {
		case bytes <= 4*KiB || size <= 4 && bytes <= 1024*KiB:
			return Direct // no more bytes than the others, fewer steps
		case bytes <= 64*KiB:
			return HalvingDoubling
		}
		return Ring
	case AllGather:
		switch {
		case size <= 4 && bytes <= 1024*KiB:
			return Direct
		case bytes <= 64*KiB:
			return Doubling
		}
		return Ring
	case Broadcast, Reduce:
		switch {
		case size <= 3 && bytes <= 32*KiB:
			return Direct
		case bytes <= 256*KiB:
			return Tree
		}
		return Ring
	case Gather, Scatter:
		if size > 8 && bytes <= 1*KiB {
			return Tree
		}
		return Direct
	case Barrier:
		if size <= 4 {
			return Direct
		}
		return Doubling
	}
	return Direct
}

// ChooseCrowded is Choose for ranks of one machine that outnumber its processors.
// There a message costs what it takes to switch from one rank to another, and what
// counts is how many have to be waited for, not how many are under way at once. Over
// sockets each message is a visit to the kernel as well, so fewer are better; in
// shared memory they cost next to nothing.
func ChooseCrowded(k Kind, size, bytes int, shared bool) Algo {
	const KiB = 1 << 10
	switch {
	case size <= 2:
	case shared && k == AllReduce && bytes > 8*KiB && bytes <= 32*KiB:
		return HalvingDoubling
	case shared:
		return ChooseShared(k, size, bytes)
	case k == AllReduce && bytes <= 128*KiB:
		return Tree
	case k == AllReduce && bytes <= 2048*KiB, k == ReduceScatter && bytes <= 32*KiB:
		return HalvingDoubling
	case k == AllGather && bytes <= 32*KiB:
		return Doubling
	case k == Broadcast && bytes <= 512*KiB, k == Barrier:
		return Tree
	}
	return Choose(k, size, bytes)
}

// ChooseShared is Choose for ranks that share memory: there, a block costs the
// same from every rank.
func ChooseShared(k Kind, size, bytes int) Algo {
	if k == AllGather && size <= 8 {
		return Direct
	}
	return Choose(k, size, bytes)
}
