package setup

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func examplePlan(system string) *Plan {
	return &Plan{Host: "halo-a", OS: system, Ports: []Port{{
		Interface: "thunderbolt0", MAC: "02:75:7c:1d:e0:b4", Cable: "halo-a port 1 – halo-b port 2",
		Address: netip.MustParsePrefix("10.71.3.1/30"), Peer: netip.MustParseAddr("10.71.3.2"), MTU: 65520,
	}}}
}

func TestPersistFiles(t *testing.T) {
	tests := []struct {
		way, system, file string
		mode              os.FileMode
		want              []string
	}{
		{PersistNetworkd, "linux", "etc/systemd/network/10-thunder-02757c1de0b4.network", 0o644,
			[]string{"MACAddress=02:75:7c:1d:e0:b4", "Address=10.71.3.1/30", "MTUBytes=65520"}},
		{PersistNetworkManager, "linux", "etc/NetworkManager/system-connections/thunder-02757c1de0b4.nmconnection", 0o600,
			[]string{"mac-address=02:75:7C:1D:E0:B4", "address1=10.71.3.1/30", "mtu=65520", "never-default=true"}},
		{PersistLaunchd, "darwin", "Library/LaunchDaemons/org.thundercollective.setup.plist", 0o644,
			[]string{"/opt/bin/thunder", "RunAtLoad", "plan.json"}},
	}
	for _, tt := range tests {
		t.Run(tt.way, func(t *testing.T) {
			x := &Persistence{Root: "/r", Thunder: "/opt/bin/thunder", StateDir: "/r/state"}
			write, err := x.Files(tt.way)
			if err != nil {
				t.Fatal(err)
			}
			files, _ := write(examplePlan(tt.system))
			f := files[len(files)-1]
			if f.Path != "/r/"+tt.file || f.Mode != tt.mode {
				t.Errorf("file %s %v", f.Path, f.Mode)
			}
			for _, w := range tt.want {
				if !strings.Contains(string(f.Text), w) {
					t.Errorf("%q is not in\n%s", w, f.Text)
				}
			}
		})
	}
	if _, err := (&Persistence{}).Files("cron"); err == nil {
		t.Error("an unknown way is accepted")
	}
}

func TestLaunchdJob(t *testing.T) {
	x := &Persistence{Root: "/", Thunder: "/Users/a & b/thunder", StateDir: "/s"}
	files, _ := x.launchd(examplePlan("darwin"))
	var plan Plan
	if err := json.Unmarshal(files[0].Text, &plan); err != nil || plan.Validate() != nil {
		t.Errorf("the stored plan cannot be applied: %v", err)
	}
	d := xml.NewDecoder(strings.NewReader(string(files[1].Text)))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("not XML: %v", err)
		}
	}
}

func TestDetect(t *testing.T) {
	root := t.TempDir()
	x := &Persistence{Root: root}
	if got := x.Detect("linux"); got != PersistNone {
		t.Errorf("empty root: %s", got)
	}
	for _, step := range []struct{ dir, want string }{
		{"run/systemd/netif", PersistNetworkd}, {"run/NetworkManager", PersistNetworkManager},
	} {
		if err := os.MkdirAll(filepath.Join(root, step.dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := x.Detect("linux"); got != step.want {
			t.Errorf("with %s: %s", step.dir, got)
		}
	}
	if got := x.Detect("darwin"); got != PersistLaunchd {
		t.Errorf("on macOS: %s", got)
	}
}

// TestFilesComeAndGo checks that undo removes the files that apply wrote and restores
// those that it replaced.
func TestFilesComeAndGo(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "etc/systemd/network")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(dir, "10-thunder-02757c1de0b4.network")
	if err := os.WriteFile(old, []byte("mine\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	x := &Persistence{Root: root}
	state := `[{"ifname":"thunderbolt0","flags":["UP"],"mtu":65520,"addr_info":[{"local":"10.71.3.1","prefixlen":30}]}]`
	m := &Machine{StateDir: t.TempDir(), Files: x.networkd, Run: func(_ context.Context, argv ...string) ([]byte, error) {
		return []byte(state), nil
	}}
	if err := m.Apply(context.Background(), examplePlan("linux")); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(old); !strings.Contains(string(b), "MTUBytes") {
		t.Errorf("not written: %s", b)
	}
	if applied, err := m.Applied(); err != nil || len(applied) != 1 {
		t.Errorf("applied %v %v", applied, err)
	}
	if err := m.Undo(context.Background()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(old)
	st, _ := os.Stat(old)
	if err != nil || string(b) != "mine\n" || st.Mode().Perm() != 0o640 {
		t.Errorf("not put back: %q %v %v", b, err, st.Mode())
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}
