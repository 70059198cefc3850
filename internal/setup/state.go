package setup

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"thundercollective/internal/topology/probe"
)

// A State is the part of an interface's state that setup changes.
type State struct {
	Interface string         `json:"interface"`
	MTU       int            `json:"mtu"`
	Up        bool           `json:"up"`
	Bridge    string         `json:"bridge,omitempty"`
	IPv4      []netip.Prefix `json:"ipv4,omitempty"`
}

// ErrNoInterface means that an interface does not exist, for example because its cable
// was unplugged.
var ErrNoInterface = errors.New("there is no such interface")

// readState reads the state of an interface with commands.
func readState(ctx context.Context, run Runner, system, itf string) (State, error) {
	var list []probe.Interface
	var err error
	var b []byte
	if system == "darwin" {
		// All interfaces: the bridge lists its members, not the other way round.
		if b, err = run(ctx, "ifconfig", "-a"); err == nil {
			list, err = probe.ParseIfconfig(b)
		}
	} else if b, err = run(ctx, "ip", "-j", "-d", "addr", "show", "dev", itf); err == nil {
		list, err = probe.ParseIPAddr(b)
	}
	if err != nil {
		if strings.Contains(err.Error(), "does not exist") {
			err = ErrNoInterface
		}
		return State{}, fmt.Errorf("read interface %s: %w", itf, err)
	}
	i := slices.IndexFunc(list, func(o probe.Interface) bool { return o.Name == itf })
	if i < 0 {
		return State{}, fmt.Errorf("read interface %s: %w", itf, ErrNoInterface)
	}
	return interfaceState(&list[i]), nil
}

// forward returns the commands that bring an interface from its present state to that of
// the plan. They do not touch what is right already.
func forward(system string, now State, want Port) [][]string {
	var out [][]string
	itf, addr := want.Interface, want.Address.String()
	has := slices.Contains(now.IPv4, want.Address)
	if system == "darwin" {
		if now.Bridge != "" {
			out = append(out, []string{"ifconfig", now.Bridge, "deletem", itf})
		}
		if now.MTU != want.MTU {
			out = append(out, []string{"ifconfig", itf, "mtu", fmt.Sprint(want.MTU)})
		}
		if !has {
			out = append(out, []string{"ifconfig", itf, "inet", addr, "alias"})
		}
		if !now.Up {
			out = append(out, []string{"ifconfig", itf, "up"})
		}
		return out
	}
	if now.Bridge != "" {
		out = append(out, []string{"ip", "link", "set", "dev", itf, "nomaster"})
	}
	if now.MTU != want.MTU {
		out = append(out, []string{"ip", "link", "set", "dev", itf, "mtu", fmt.Sprint(want.MTU)})
	}
	if !has {
		out = append(out, []string{"ip", "addr", "add", addr, "dev", itf})
	}
	if !now.Up {
		out = append(out, []string{"ip", "link", "set", "dev", itf, "up"})
	}
	return out
}

// backward returns the commands that restore an interface to its state before. added is
// the address that setup may have given it.
func backward(system string, now, before State, added netip.Prefix) [][]string {
	var out [][]string
	itf := before.Interface
	remove := slices.Contains(now.IPv4, added) && !slices.Contains(before.IPv4, added)
	if system == "darwin" {
		if remove {
			out = append(out, []string{"ifconfig", itf, "inet", added.Addr().String(), "-alias"})
		}
		if now.MTU != before.MTU {
			out = append(out, []string{"ifconfig", itf, "mtu", fmt.Sprint(before.MTU)})
		}
		if now.Bridge != before.Bridge && before.Bridge != "" {
			out = append(out, []string{"ifconfig", before.Bridge, "addm", itf})
		}
		if now.Up && !before.Up {
			out = append(out, []string{"ifconfig", itf, "down"})
		}
		return out
	}
	if remove {
		out = append(out, []string{"ip", "addr", "del", added.String(), "dev", itf})
	}
	if now.Up && !before.Up {
		out = append(out, []string{"ip", "link", "set", "dev", itf, "down"})
	}
	// The MTU first: a bridge has the smallest MTU of its members.
	if now.MTU != before.MTU {
		out = append(out, []string{"ip", "link", "set", "dev", itf, "mtu", fmt.Sprint(before.MTU)})
	}
	if now.Bridge != before.Bridge && before.Bridge != "" {
		out = append(out, []string{"ip", "link", "set", "dev", itf, "master", before.Bridge})
	}
	return out
}
