package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"strings"
)

// A Machine carries plans out.
type Machine struct {
	Run      Runner    // required; runs commands on this machine
	StateDir string    // where the journal is; required
	Files    Files     // files that make a plan last; nil for none
	Log      io.Writer // told every command before it runs; nil for nobody
}

// Files returns the files to write for a plan, and the commands that make the
// system read them.
type Files func(p *Plan) (files []File, reload [][]string)

// A File is one file of a plan.
type File struct {
	Path string
	Mode os.FileMode
	Text []byte
}

// Steps lists what Apply would run for a plan, without running it.
func (m *Machine) Steps(ctx context.Context, p *Plan) ([][]string, error) {
	var out [][]string
	for _, port := range p.Ports {
		now, err := readState(ctx, m.Run, p.OS, port.Interface)
		if err != nil {
			return nil, err
		}
		out = append(out, forward(p.OS, now, port)...)
	}
	return out, nil
}

// Apply carries a plan out. When a step fails, what was done is undone, and the
// error says which it was.
func (m *Machine) Apply(ctx context.Context, p *Plan) error {
	if err := p.Validate(); err != nil {
		return err
	}
	j, err := readJournal(m.StateDir, p.OS)
	if err != nil {
		return err
	}
	if err := m.apply(ctx, p, j); err != nil {
		if undoErr := m.Undo(context.WithoutCancel(ctx)); undoErr != nil {
			return fmt.Errorf("set up %s: %w; undoing it failed too (%v), try thunder setup --undo", p.Host, err, undoErr)
		}
		return fmt.Errorf("set up %s: %w; all that setup had changed is undone", p.Host, err)
	}
	return nil
}

func (m *Machine) apply(ctx context.Context, p *Plan, j *Journal) error {
	// A port that an earlier plan gave another address loses that one first.
	for _, port := range p.Ports {
		if old := j.port(port.Interface); old != nil && old.Added != port.Address {
			if err := m.restore(ctx, j, old); err != nil {
				return err
			}
		}
	}
	states := make([]State, len(p.Ports))
	for i, port := range p.Ports {
		now, err := readState(ctx, m.Run, p.OS, port.Interface)
		if err != nil {
			return err
		}
		states[i] = now
		if old := j.port(port.Interface); old != nil {
			old.Added = port.Address
		} else {
			j.Ports = append(j.Ports, JournalPort{Before: now, Added: port.Address})
		}
	}
	var files []File
	var reload [][]string
	if m.Files != nil {
		files, reload = m.Files(p)
	}
	for _, f := range files {
		if err := j.remember(f.Path); err != nil {
			return err
		}
	}
	j.Plan = p
	// From here on a crash can be undone.
	if err := j.save(); err != nil {
		return err
	}
	for i, port := range p.Ports {
		if err := m.runAll(ctx, forward(p.OS, states[i], port)); err != nil {
			return err
		}
	}
	for _, f := range files {
		m.say("write " + f.Path)
		if err := writeDurably(f.Path, f.Text, f.Mode); err != nil {
			return fmt.Errorf("make it last: %w", err)
		}
	}
	return m.runAll(ctx, reload)
}

// remember notes how a file was before it is written for the first time.
func (j *Journal) remember(path string) error {
	if j.file(path) != nil {
		return nil
	}
	entry := JournalFile{Path: path}
	st, err := os.Stat(path)
	switch {
	case err == nil:
		entry.Existed, entry.Mode = true, uint32(st.Mode().Perm())
		if entry.Previous, err = os.ReadFile(path); err != nil {
			return fmt.Errorf("make it last: %w", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("make it last: %w", err)
	}
	j.Files = append(j.Files, entry)
	return nil
}

func (m *Machine) runAll(ctx context.Context, cmds [][]string) error {
	for _, argv := range cmds {
		m.say(strings.Join(argv, " "))
		if _, err := m.Run(ctx, argv...); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
		}
	}
	return nil
}

func (m *Machine) say(line string) {
	if m.Log != nil {
		fmt.Fprintln(m.Log, "  "+line)
	}
}

// restore brings one interface back to how it was found.
func (m *Machine) restore(ctx context.Context, j *Journal, p *JournalPort) error {
	now, err := readState(ctx, m.Run, j.OS, p.Before.Interface)
	if err != nil {
		return err
	}
	return m.runAll(ctx, backward(j.OS, now, p.Before, p.Added))
}

// Undo brings everything that the journal names back to how it was found, and
// then forgets it. Interfaces that are gone are left out: there is nothing to
// restore. It goes on after a failure and returns all of them.
func (m *Machine) Undo(ctx context.Context) error {
	j, err := readJournal(m.StateDir, "")
	if err != nil {
		return err
	}
	if j.empty() {
		return nil
	}
	var errs []error
	var left []JournalPort
	for i := range j.Ports {
		p := &j.Ports[i]
		err := m.restore(ctx, j, p)
		switch {
		case errors.Is(err, ErrNoInterface):
			m.say(p.Before.Interface + " is gone, nothing to restore")
		case err != nil:
			errs, left = append(errs, err), append(left, *p)
		}
	}
	var leftFiles []JournalFile
	for _, f := range j.Files {
		m.say("restore " + f.Path)
		if err := f.restore(); err != nil {
			errs, leftFiles = append(errs, err), append(leftFiles, f)
		}
	}
	if len(errs) == 0 {
		return os.Remove(j.path)
	}
	j.Ports, j.Files = left, leftFiles
	return errors.Join(append(errs, j.save())...)
}

func (f *JournalFile) restore() error {
	if f.Existed {
		return writeDurably(f.Path, f.Previous, os.FileMode(f.Mode))
	}
	err := os.Remove(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Applied returns the ports that setup has changed on this machine and not undone
// yet, with the addresses it gave them.
func (m *Machine) Applied() (map[string]netip.Prefix, error) {
	j, err := readJournal(m.StateDir, "")
	if err != nil {
		return nil, err
	}
	out := map[string]netip.Prefix{}
	for _, p := range j.Ports {
		out[p.Before.Interface] = p.Added
	}
	return out, nil
}
