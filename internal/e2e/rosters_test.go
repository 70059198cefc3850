package e2e_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/freeaddr"
	"thundercollective/internal/leaks"
)

// TestHostfilesDiffer starts two ranks with hostfiles that differ. Both say at once which
// line differs, and what each believes; neither says that the other did not arrive.
func TestHostfilesDiffer(t *testing.T) {
	leaks.Check(t)
	a := freeaddr.Loopback(t, 5)
	pair := func(one, two, edges string) string {
		return fmt.Sprintf(`{"hosts":[{"name":"a","addrs":[%s]},{"name":"b","addrs":[%s]}]%s}`, one, two, edges)
	}
	q := func(addrs ...string) string { return `"` + strings.Join(addrs, `","`) + `"` }
	plain := pair(q(a[0]), q(a[1]), "")
	for _, tt := range []struct {
		name  string
		files [2]string
		want  string
	}{
		{"address of the other", [2]string{pair(q(a[0]), q(a[2]), ""), plain},
			fmt.Sprintf("rank 1 is at %s according to rank 0, but %s according to rank 1", a[2], a[1])},
		{"rails of both", [2]string{pair(q(a[0], a[3]), q(a[1], a[4]), ""), plain},
			fmt.Sprintf("rank 0 is at %s, %s according to rank 0, but %s according to rank 1", a[0], a[3], a[0])},
		{"a rail at the other end alone", [2]string{plain, pair(q(a[0]), q(a[1], a[4]), "")},
			fmt.Sprintf("rank 1 is at %s according to rank 0, but %s, %s according to rank 1", a[1], a[1], a[4])},
		{"order", [2]string{pair(q(a[0], a[3]), q(a[1], a[4]), ""), pair(q(a[3], a[0]), q(a[1], a[4]), "")},
			fmt.Sprintf("rank 0 is at %s, %s according to rank 0, but %s, %s according to rank 1", a[0], a[3], a[3], a[0])},
		{"edges", [2]string{pair(q(a[0]), q(a[1]), `,"edges":[["a","b","10"]]`), plain},
			"the cables are 0=1@10 according to rank 0, but not listed according to rank 1"},
		{"machines", [2]string{plain, fmt.Sprintf("[[%q],[%q]]", a[0], a[1])},
			fmt.Sprintf("rank 1 is at %s according to rank 0, but %s (on the machine of rank 0) according to rank 1", a[1], a[1])},
	} {
		t.Run(tt.name, func(t *testing.T) {
			begin := time.Now()
			each(t, 2, func(r int) error {
				c, err := thunder.Init(t.Context(), thunder.Options{
					Join:      thunder.Join{Rank: r, Size: 2, Hostfile: tt.files[r]},
					Transport: thunder.Transport{Fabric: "tcp"}, Security: thunder.Security{Token: []byte("secret")},
				})
				if err == nil {
					c.Close()
					return errors.New("it starts")
				}
				differs, ok := errors.AsType[*thunder.SettingsError](err)
				if !ok || !strings.Contains(differs.Reason, tt.want) || strings.Contains(err.Error(), "did not arrive") {
					return fmt.Errorf("got %v, want a *SettingsError with %q", err, tt.want)
				}
				return nil
			})
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestAddressListsMayDiffer: ranks that are given address lists may know each other by
// different addresses, but not by different numbers of them.
func TestAddressListsMayDiffer(t *testing.T) {
	a := hostAddrs(t, "ABB")
	o := func(r int, addrs ...string) thunder.Options {
		return thunder.Options{Join: thunder.Join{Rank: r, Size: 2, Addrs: addrs}, Transport: thunder.Transport{Fabric: "tcp"}, Security: thunder.Security{Token: []byte("secret")}}
	}
	meet(t, o(0, a[0], a[1]), o(1, a[0], a[2]))
	each(t, 2, func(r int) error {
		c, err := thunder.Init(t.Context(), []thunder.Options{o(0, a[0], a[1]), o(1, a[0], a[1]+","+a[2])}[r])
		if err == nil {
			c.Close()
			return errors.New("it starts")
		}
		if want := "rank 1 is at 1 address according to rank 0, but 2 addresses according to rank 1"; !strings.Contains(err.Error(), want) {
			return fmt.Errorf("got %v, want %q", err, want)
		}
		return nil
	})
}
