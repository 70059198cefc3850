package thunder

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"thundercollective/internal/group"
	"thundercollective/internal/session"
)

// Split makes groups: ranks that give the same color get a Comm of their own,
// ordered by key, and by rank where keys are equal. All ranks of c have to call it.
// A negative color takes part but joins no group and returns nil.
func (c *Comm) Split(ctx context.Context, color, key int) (*Comm, error) {
	n := c.Size()
	id := groupID(c.group.ID(), c.splits.Add(1))

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
		ranks[i] = c.group.Ranks()[r]
	}
	return c.job.add(c.job.newComm(id, ranks, slices.Index(members, c.Rank())))
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
	return max(h.Sum32()&group.MaxID, session.WorldID+1)
}

// Shrink makes a group of those that are left of c, in their old order. All
// survivors have to call it, usually after an operation returned a *PeerLostError;
// it ends c where that still works, and returns when every rank of c has called it
// or is known to be gone. All that return a group return the same one, also when
// more ranks die meanwhile, or when some were wrongly taken for dead.
//
// At least half of c's ranks have to be left, with rank 0 among them if it is
// exactly half; else there is a *QuorumError, so that two parts of a job that lost
// each other do not both go on. A rank that the others have given up gets a
// *PeerLostError about itself. A rank that dies at the last moment may still be in
// the new group, which then fails, and can be shrunk in turn.
//
// The new group uses the connections of the old: close it when it is no longer
// needed, and the Comm of Init at the end.
func (c *Comm) Shrink(ctx context.Context) (*Comm, error) {
	ranks, err := c.job.session.Shrink(ctx, c.group)
	if err != nil {
		return nil, err
	}
	g, err := c.job.add(c.job.newComm(groupID(c.group.ID(), math.MaxUint32), ranks, slices.Index(ranks, c.job.rank)))
	if err != nil {
		return nil, err
	}
	c.job.log.Info("group shrunk", "from", c.Size(), "to", len(ranks))
	return g, nil
}
