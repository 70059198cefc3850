package rdma

import (
	"encoding/json"
	"fmt"
)

// A Row names one rank's devices for each of the ranks: entry p lists those that
// are joined to rank p, one per rail. In JSON an entry is null, a string or a
// list of strings, as in MLX's hostfiles.
type Row [][]string

// UnmarshalJSON implements json.Unmarshaler.
func (r *Row) UnmarshalJSON(b []byte) error {
	var entries []json.RawMessage
	if err := json.Unmarshal(b, &entries); err != nil {
		return fmt.Errorf("rdma row: want a list with one entry per rank: %w", err)
	}
	row := make(Row, len(entries))
	for i, e := range entries {
		var one *string
		var many []string
		switch {
		case json.Unmarshal(e, &one) == nil:
			if one != nil {
				row[i] = []string{*one}
			}
		case json.Unmarshal(e, &many) == nil:
			row[i] = many
		default:
			return fmt.Errorf("rdma row: entry %d is %s; want null, a device or a list of devices", i, e)
		}
	}
	*r = row
	return nil
}
