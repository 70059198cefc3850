package thunder

import (
	"log/slog"
	"reflect"
	"testing"
)

func TestRDMAOptions(t *testing.T) {
	for _, tt := range []struct {
		devices, gid string
		want         Options
		ok           bool
	}{
		{"", "", Options{}, true},
		{"a,b", "3", Options{Transport: Transport{RDMADevices: []string{"a", "b"}, RDMAGID: 3}}, true},
		{"a", "0", Options{}, false},
		{"", "x", Options{}, false},
	} {
		vars := map[string]string{"THUNDER_RDMA_DEVICES": tt.devices, "THUNDER_RDMA_GID": tt.gid}
		o, err := Options{Diagnostics: Diagnostics{Logger: slog.New(slog.DiscardHandler)}}.complete(func(k string) string { return vars[k] })
		got := Options{Transport: Transport{RDMADevices: o.Transport.RDMADevices, RDMAGID: o.Transport.RDMAGID}}
		if (err == nil) != tt.ok || tt.ok && !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q, %q: got %+v, %v", tt.devices, tt.gid, got, err)
		}
	}
}
