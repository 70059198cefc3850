package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Ways to keep a plan over a restart.
const (
	PersistAuto           = "auto"
	PersistNetworkd       = "networkd"
	PersistNetworkManager = "networkmanager"
	PersistLaunchd        = "launchd"
	PersistNone           = "none"
)

// A Persistence makes the files that keep a plan over a restart.
type Persistence struct {
	Root     string // "/", except in tests
	Thunder  string // path of this program, for launchd
	StateDir string
}

// Detect returns the way that suits this machine.
func (x *Persistence) Detect(system string) string {
	if system == "darwin" {
		return PersistLaunchd
	}
	// NetworkManager first: if both run, it manages new devices.
	for _, c := range []struct{ dir, way string }{
		{"run/NetworkManager", PersistNetworkManager}, {"run/systemd/netif", PersistNetworkd},
	} {
		if st, err := os.Stat(filepath.Join(x.Root, c.dir)); err == nil && st.IsDir() {
			return c.way
		}
	}
	return PersistNone
}

// Files returns the function that makes the files, nil for PersistNone.
func (x *Persistence) Files(way string) (Files, error) {
	switch way {
	case PersistNone:
		return nil, nil
	case PersistNetworkd:
		return x.networkd, nil
	case PersistNetworkManager:
		return x.networkManager, nil
	case PersistLaunchd:
		return x.launchd, nil
	}
	return nil, fmt.Errorf("persist: %q is not one of auto, networkd, networkmanager, launchd, none", way)
}

// networkd matches by hardware address, because the cable that is plugged in first gets
// the name thunderbolt0.
func (x *Persistence) networkd(p *Plan) (files []File, reload [][]string) {
	for _, port := range p.Ports {
		text := fmt.Sprintf(`# Written by thunder setup; removed by thunder setup --undo.
# %s
[Match]
%s

[Link]
MTUBytes=%d
RequiredForOnline=no

[Network]
Address=%s
LinkLocalAddressing=ipv6
IPv6AcceptRA=no
`, port.Cable, match(port, "MACAddress=", "Name="), port.MTU, port.Address)
		files = append(files, File{filepath.Join(x.Root, "etc/systemd/network", "10-thunder-"+port.id()+".network"), 0o644, []byte(text)})
	}
	return files, [][]string{{"networkctl", "reload"}}
}

func (x *Persistence) networkManager(p *Plan) (files []File, reload [][]string) {
	for _, port := range p.Ports {
		text := fmt.Sprintf(`# Written by thunder setup; removed by thunder setup --undo.
# %s
[connection]
id=thunder-%s
type=ethernet
autoconnect-priority=100
%s
[ethernet]
%smtu=%d

[ipv4]
method=manual
address1=%s
never-default=true

[ipv6]
method=link-local
`, port.Cable, port.id(), onlyIf(port.MAC == "", "interface-name="+port.Interface+"\n"),
			onlyIf(port.MAC != "", "mac-address="+strings.ToUpper(port.MAC)+"\n"), port.MTU, port.Address)
		// NetworkManager ignores files that others can read.
		files = append(files, File{filepath.Join(x.Root, "etc/NetworkManager/system-connections", "thunder-"+port.id()+".nmconnection"), 0o600, []byte(text)})
	}
	return files, [][]string{{"nmcli", "connection", "reload"}}
}

func match(p Port, byMAC, byName string) string {
	if p.MAC != "" {
		return byMAC + p.MAC
	}
	return byName + p.Interface
}

func onlyIf(cond bool, s string) string {
	if cond {
		return s
	}
	return ""
}

// id returns the name of a port in file names.
func (p Port) id() string {
	if p.MAC != "" {
		return strings.ReplaceAll(p.MAC, ":", "")
	}
	return p.Interface
}
