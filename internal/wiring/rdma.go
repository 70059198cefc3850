package wiring

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"thundercollective/fabric"
	"thundercollective/internal/provider/rdma"
	"thundercollective/internal/rendezvous"
)

// openRDMA puts RDMA on top of boot, for all pairs or, with "auto", for those that
// have working devices at both ends.
func openRDMA(boot fabric.Fabric, roster *rendezvous.Roster, o Config) (fabric.Fabric, error) {
	row, err := deviceRow(roster, o, os.Getenv)
	if err != nil {
		return nil, err
	}
	spin := spinTime
	if Crowded(roster) {
		spin = 0
	}
	f, err := rdma.New(context.Background(), boot, rdma.Config{
		Devices: row, GIDIndex: o.GIDIndex, Fallback: o.Fabric != "rdma", Spin: spin, Logger: o.Logger,
	})
	if err != nil {
		return nil, err // not f: a nil *rdma.Fabric would not be a nil fabric.Fabric
	}
	return f, nil
}

// deviceRow names this rank's RDMA devices for each peer: as the options say, the
// hostfile, or the launcher (MLX_IBV_DEVICES, which 'thunder launch' sets too). It
// is nil if none of them does.
func deviceRow(roster *rendezvous.Roster, o Config, getenv func(string) string) ([][]string, error) {
	row := make([][]string, roster.Size())
	switch file := getenv("MLX_IBV_DEVICES"); {
	case len(o.Devices) > 0:
		for peer := range row {
			row[peer] = o.Devices
		}
		return row, nil
	case o.Hostfile != "":
		h, err := rendezvous.ReadHostfile(o.Hostfile)
		if err != nil {
			return nil, err
		}
		return h.Devices(roster.Rank), nil
	case file != "":
		return mlxDevices(file, roster)
	}
	return nil, nil
}

// mlxDevices reads a matrix with an entry per pair of ranks: null, a device or a
// list of them.
func mlxDevices(file string, roster *rendezvous.Roster) ([][]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("MLX_IBV_DEVICES: %w", err)
	}
	var matrix [][]json.RawMessage
	if err := json.Unmarshal(data, &matrix); err != nil {
		return nil, fmt.Errorf("MLX_IBV_DEVICES: %s: %w", file, err)
	}
	if len(matrix) != roster.Size() || len(matrix[roster.Rank]) != roster.Size() {
		return nil, fmt.Errorf("MLX_IBV_DEVICES: %s is not a matrix for %d ranks", file, roster.Size())
	}
	row := make([][]string, roster.Size())
	for peer, entry := range matrix[roster.Rank] {
		var one string
		switch {
		case string(entry) == "null":
		case json.Unmarshal(entry, &one) == nil:
			row[peer] = []string{one}
		case json.Unmarshal(entry, &row[peer]) != nil:
			return nil, fmt.Errorf("MLX_IBV_DEVICES: %s: entry %d,%d is %s; want null, a device or a list of devices", file, roster.Rank, peer, entry)
		}
	}
	return row, nil
}
