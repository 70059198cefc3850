package topology

import (
	"errors"
	"strings"
	"testing"

	"thundercollective/internal/rendezvous"
)

func TestHostfiles(t *testing.T) {
	tests := []struct {
		story, form string
		hosts       int
		first       []string // addresses of the first host
		rdma        bool
		says        string
	}{
		{"two-macs-two-cables", "", 2, []string{"10.71.0.1", "10.71.0.5"}, true, `"ips"`},
		{"four-macs-mesh", "", 4, []string{"10.71.0.1", "10.71.0.5", "10.71.0.9"}, true, `"edges"`},
		{"four-macs-mesh", FormMLX, 4, []string{"192.168.1.11"}, true, `"rdma_en3"`},
		{"four-macs-ring", FormMLX, 4, []string{"10.71.0.14"}, true, `"ips"`},
		{"two-strix-halo-two-rails", FormThunder, 2, []string{"10.71.0.1", "10.71.0.5"}, false, `"addrs"`},
		{"connectx-in-an-enclosure", "", 2, []string{"10.71.0.1"}, true, `"mlx5_0"`},
		{"no-ipv4-on-the-port", "", 2, []string{"192.168.1.11"}, false, `"ips"`}, // falls back to the network they share
	}
	for _, tt := range tests {
		t.Run(tt.story+tt.form, func(t *testing.T) {
			text, err := story(t, tt.story).MarshalHostfile(tt.form)
			if err != nil {
				t.Fatal(err)
			}
			h, err := rendezvous.ParseHostfile("", text)
			if err != nil {
				t.Fatal(err)
			}
			if len(h.Hosts) != tt.hosts || strings.Join(h.Hosts[0].Addrs, " ") != strings.Join(tt.first, " ") ||
				(len(h.Hosts[0].RDMA) > 0) != tt.rdma || !strings.Contains(string(text), tt.says) {
				t.Errorf("hostfile\n%s", text)
			}
			if _, err := h.Peers(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestHostfileWithoutAddresses(t *testing.T) {
	ms := macs(2, 2)
	plugIn(ms, 0, 1, 1, 1)
	if _, err := Build(ms).MarshalHostfile(""); !errors.Is(err, ErrNoAddress) {
		t.Errorf("error %v", err)
	}
	if _, err := Build(ms).MarshalHostfile("xml"); err == nil {
		t.Error("an unknown form is accepted")
	}
}
