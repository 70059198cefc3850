package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	thunder "thundercollective"
	"thundercollective/internal/bench"
)

// railRow is a rail in JSON.
type railRow struct {
	Rank      int    `json:"rank"`
	Peer      int    `json:"peer"`
	Near      string `json:"near"`
	Far       string `json:"far"`
	Device    string `json:"device,omitempty"`
	Up        bool   `json:"up"`
	Streams   int    `json:"streams"`
	Sent      uint64 `json:"sent_bytes"`
	Received  uint64 `json:"received_bytes"`
	Failovers int    `json:"failovers"`
	Resent    int    `json:"resent_segments"`
}

// printRails prints the traffic of each rail of a rank; with asJSON, as an object with one
// field, "rails".
func printRails(w io.Writer, rank int, rails []thunder.Rail, asJSON bool) error {
	rows := []railRow{}
	for _, r := range rails {
		rows = append(rows, railRow{
			Rank: rank, Peer: r.Peer, Near: r.Near, Far: r.Far, Device: r.Device, Up: r.Up, Streams: r.Streams,
			Sent: r.Sent, Received: r.Recv, Failovers: r.Failovers, Resent: r.ResentPieces,
		})
	}
	if asJSON {
		return json.NewEncoder(w).Encode(map[string]any{"rails": rows})
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintf(w, "\nrank %d has one rail to each peer\n", rank)
		return err
	}
	fmt.Fprintf(w, "\nrails of rank %d\n", rank)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "peer\tinterface\tfrom\tto\tstreams\tsent\treceived\tlost\tresent\tstate")
	for _, r := range rows {
		state := "up"
		if !r.Up {
			state = "down"
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%d\t%s\t%s\t%d\t%d\t%s\n", r.Peer, r.Device, r.Near, r.Far, r.Streams,
			bench.FormatSize(float64(r.Sent)), bench.FormatSize(float64(r.Received)), r.Failovers, r.Resent, state)
	}
	return t.Flush()
}
