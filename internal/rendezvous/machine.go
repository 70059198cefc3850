package rendezvous

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
)

// machineSize is the length of a Peer's Machine.
const machineSize = 16

// ownMachine returns the Machine of this process. A machine is one boot of a kernel,
// since names are given twice. Where a system does not tell boots apart, a machine is
// its network interfaces.
func ownMachine() string {
	if id := bootID(); id != "" {
		return opaque("boot " + id)
	}
	return opaque("interfaces " + interfacesID())
}

// interfacesID tells machines apart whose systems have no boot id.
func interfacesID() string {
	list := []string{hostname()}
	if id, err := os.ReadFile("/etc/machine-id"); err == nil {
		list = append(list, strings.TrimSpace(string(id)))
	}
	ifs, _ := net.Interfaces() // the rest has to do
	var addrs []string
	for _, i := range ifs {
		if len(i.HardwareAddr) > 0 {
			addrs = append(addrs, i.HardwareAddr.String())
		}
	}
	slices.Sort(addrs)
	return strings.Join(append(list, addrs...), " ")
}

// opaque returns a text of machineSize that says nothing but whether two ids are equal.
func opaque(id string) string {
	sum := sha256.Sum256([]byte("thunder machine " + id))
	return hex.EncodeToString(sum[:machineSize/2])
}

func validMachine(id string) bool {
	b, err := hex.DecodeString(id)
	return err == nil && len(b) == machineSize/2
}

// listedMachines sets Machine of ranks that are listed, by address list or hostfile, and
// tell each other nothing before they connect: those that have one of their keys in
// common are on one machine. All ranks come to the same result.
func listedMachines(peers []Peer, keys [][]string) {
	of := make([]int, len(peers)) // the lowest rank of each machine
	owner := map[string]int{}
	for r := range peers {
		of[r] = r
		for _, key := range keys[r] {
			other, ok := owner[key]
			if !ok {
				owner[key] = r
				continue
			}
			a, b := of[other], of[r]
			for i := range of[:r+1] {
				if of[i] == a || of[i] == b {
					of[i] = min(a, b)
				}
			}
		}
	}
	for r := range peers {
		peers[r].Machine = opaque(fmt.Sprintf("of rank %d", of[r]))
	}
}

// addressKeys is what listed ranks are told apart by if there are only their addresses:
// a machine may have several, but no two machines have one in common.
func addressKeys(addrs []string) (keys []string) {
	for _, addr := range addrs {
		if e, err := parseEndpoint(addr); err == nil && !e.unspecified() {
			keys = append(keys, "address "+e.host())
		}
	}
	return keys
}

// tellApart makes the names of machines unique: of several with one name, the second gets
// "#2" after it, the third "#3". Ranks count in their order, so that all ranks use the
// same names.
func tellApart(peers []Peer) {
	machines := map[string][]string{} // by name
	for r := range peers {
		p := &peers[r]
		list := machines[p.Host]
		n := slices.Index(list, p.Machine)
		if n < 0 {
			n = len(list)
			machines[p.Host] = append(list, p.Machine)
		}
		if n > 0 {
			p.Host = fmt.Sprintf("%s#%d", p.Host, n+1)
		}
	}
}
