package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"thundercollective/internal/netns"
)

// A chain is three machines of which only neighbours are joined by cables. The
// launcher reaches all of them, over another network.
//
//	launcher ──┬───────────┬───────────┐      10.215.x.0/24
//	          [a]── c0 ───[b]── c1 ───[c]     10.216.x.0/30, 10.216.x.4/30
type chain struct {
	*farm
	id int
}

func newChain(t *testing.T) *chain {
	t.Helper()
	c, machines := &chain{id: os.Getpid() % 200}, netns.New(t, 3, "unshare", "hostname")
	bridge := fmt.Sprintf("tcb%d", c.id)
	var hosts []*sshHost
	for i, host := range []string{"a", "b", "c"} {
		ns, end := machines[i], fmt.Sprintf("tc%d%s", c.id, host)
		command(t, "ip", "-n", ns, "link", "set", "lo", "up")
		if i == 0 {
			command(t, "ip", "link", "add", bridge, "type", "bridge")
			t.Cleanup(func() { command(t, "ip", "link", "del", bridge) })
			command(t, "ip", "addr", "add", fmt.Sprintf("10.215.%d.254/24", c.id), "dev", bridge)
			command(t, "ip", "link", "set", bridge, "up")
		}
		command(t, "ip", "link", "add", end, "type", "veth", "peer", "name", "office", "netns", ns)
		t.Cleanup(func() { command(t, "ip", "link", "del", end) }) // the namespace takes its time
		command(t, "ip", "link", "set", end, "master", bridge, "up")
		addr := fmt.Sprintf("10.215.%d.%d", c.id, i+1)
		plug(t, ns, "office", addr+"/24")
		// A namespace has neither a name nor a boot id of its own.
		inside := netns.Machine(t, ns, "unshare", "--uts", "sh", "-c", `hostname `+ns+`; exec "$@"`, "sh")
		hosts = append(hosts, &sshHost{name: host, addr: addr, port: "2222", inside: inside})
	}
	for i := range 2 {
		cable, one, other := fmt.Sprintf("c%d", i), machines[i], machines[i+1]
		command(t, "ip", "-n", one, "link", "add", cable, "type", "veth", "peer", "name", cable, "netns", other)
		plug(t, one, cable, fmt.Sprintf("10.216.%d.%d/30", c.id, 4*i+1))
		plug(t, other, cable, fmt.Sprintf("10.216.%d.%d/30", c.id, 4*i+2))
	}
	c.farm = newFarm(t, hosts...)
	return c
}

// plug gives an interface of a namespace its address.
func plug(t *testing.T, ns, device, addr string) {
	t.Helper()
	command(t, "ip", "-n", ns, "addr", "add", addr, "dev", device)
	command(t, "ip", "-n", ns, "link", "set", device, "up")
}

// hostfile lists the machines by the ends of their cables.
func (c *chain) hostfile(t *testing.T, edges string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hosts.json")
	writeFile(t, path, strings.ReplaceAll(`{"hosts":[{"name":"left","ssh":"a","addrs":["NET.1"]},
		{"name":"middle","ssh":"b","addrs":["NET.2","NET.5"]},
		{"name":"right","ssh":"c","addrs":["NET.6"]}]`+edges+`}`, "NET", fmt.Sprintf("10.216.%d", c.id)))
	return path
}

// The cables of a hostfile, or of --edges, are those that the ranks use: the ends of
// the chain reach each other through its middle.
func TestEdges(t *testing.T) {
	t.Parallel()
	c := newChain(t)
	program := []string{"--env", "THUNDER_HEARTBEAT_TIMEOUT=20s", "--", "thunder", "bench", "alltoall", "--size", "1MiB", "--iters", "2", "--warmup", "0", "--fabric", "tcp", "--json"}
	with, without := c.hostfile(t, `,"edges":[["left","middle","10"],["middle","right"]]`), c.hostfile(t, "")
	for name, args := range map[string][]string{
		"hostfile": {"--hostfile", with},
		"flag":     {"--hostfile", without, "--edges", "left=middle,b-right"},
	} {
		t.Run(name, func(t *testing.T) {
			c.launch(t, append(args, program...)...).want(t, 0, `"world_size":3`, `"wrong":0`)
		})
	}
	t.Run("what ranks get", func(t *testing.T) {
		c.launch(t, "--hostfile", with, "--", "sh", "-c", `echo "cables $THUNDER_EDGES"`).want(t, 0,
			"0@a | cables 0=1@10,1=2\n", "1@b | cables 0=1@10,1=2\n", "2@c | cables 0=1@10,1=2\n")
		c.launch(t, "--hostfile", with, "-n", "2", "--", "sh", "-c", `echo "cables $THUNDER_EDGES"`).want(t, 0, "1@b | cables 0=1@10\n")
	})
	t.Run("unknown host", func(t *testing.T) {
		c.launch(t, append([]string{"--hostfile", with, "--edges", "left=top"}, program...)...).want(t, 2, `"top" is not a rank, a host`)
	})
	t.Run("a rank without cable", func(t *testing.T) {
		c.launch(t, append([]string{"--hostfile", with, "--edges", "left=middle"}, program...)...).want(t, 1, "rank 2")
	})
}
