package thunder

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

	"thundercollective/fabric"
)

// Split makes groups: ranks that give the same color get a Comm of their own,
// ordered by key, and by rank where keys are equal. All ranks of c have to call it.
// A negative color takes part but joins no group and returns nil.
func (c *Comm) Split(ctx context.Context, color, key int) (*Comm, error) {
	n := len(c.ranks)
	id := groupID(c.id, c.splits.Add(1))

	mine := []int64{int64(color), int64(key)}
	all := make([]int64, 2*n)
	if err := AllGather(ctx, c, all, mine); err != nil {
		return nil, fmt.Errorf("split: %w", err)
	}
	if color < 0 {
		return nil, nil
	}
	var members []int // ranks in c
	for r := range n {
		if all[2*r] == int64(color) {
			members = append(members, r)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(all[2*a+1], all[2*b+1]) })
	ranks := make([]int, len(members))
	for i, r := range members {
		ranks[i] = c.ranks[r]
	}
	g := newComm(c.job, id, ranks, slices.Index(members, c.rank))
	if err := c.job.add(g); err != nil {
		return nil, err
	}
	return g, nil
}

// groupID numbers the groups that one Split makes; they have no rank in common,
// so one number does for all of them. Every member computes the same one without
// asking, also when Splits of different groups run at the same time. Two numbers
// could meet, one time in a hundred million; then Split fails and says so.
func groupID(parent, splits uint32) uint32 {
	h := fnv.New32a()
	var b [8]byte
	binary.LittleEndian.PutUint32(b[:], parent)
	binary.LittleEndian.PutUint32(b[4:], splits)
	h.Write(b[:])
	const top = uint32(fabric.UserChannels)/2 - 1 // two channels each
	return max(h.Sum32()&top, worldID+1)
}
