package thunder

import (
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
		{"a,b", "3", Options{Devices: []string{"a", "b"}, GIDIndex: 3}, true},
		{"a", "0", Options{}, false},
		{"", "x", Options{}, false},
	} {
		env := map[string]string{"THUNDER_RDMA_DEVICES": tt.devices, "THUNDER_RDMA_GID": tt.gid}
		var o Options
		if err := o.rdmaOptions(func(k string) string { return env[k] }); (err == nil) != tt.ok || tt.ok && !reflect.DeepEqual(o, tt.want) {
			t.Errorf("%q, %q: got %+v, %v", tt.devices, tt.gid, o, err)
		}
	}
}
