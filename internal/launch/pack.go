package launch

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// copyName returns the name of a copied path in the target directory: its path relative to
// the working directory, or its last element if it is not below.
func copyName(path string) (abs, name string, err error) {
	if abs, err = filepath.Abs(path); err != nil {
		return "", "", err
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", "", err
	}
	if rel, err := filepath.Rel(wd, abs); err == nil && filepath.IsLocal(rel) {
		return abs, rel, nil
	}
	return abs, filepath.Base(abs), nil
}

// insideCopy reports whether prog is the copied path or below it, and its name among the
// copies.
func insideCopy(copied, prog string) (name string, ok bool) {
	abs, name, err := copyName(copied)
	if err != nil {
		return "", false
	}
	progAbs, err := filepath.Abs(prog)
	if err != nil {
		return "", false
	}
	rel, err := filepath.Rel(abs, progAbs)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	if _, err := os.Stat(progAbs); err != nil {
		return "", false
	}
	return filepath.Join(name, rel), true
}

// pack writes files and directories to w as a tar stream.
func pack(w io.Writer, paths []string) error {
	tw := tar.NewWriter(w)
	packed := map[string]bool{".": true} // names, once each
	for _, path := range paths {
		abs, name, err := copyName(path)
		if err != nil {
			return err
		}
		if err := packParents(tw, filepath.Dir(name), packed); err != nil {
			return err
		}
		err = filepath.WalkDir(abs, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(abs, p)
			if err != nil {
				return err
			}
			return packOne(tw, p, filepath.ToSlash(filepath.Join(name, rel)), d, packed)
		})
		if err != nil {
			return fmt.Errorf("copy %s: %w", path, err)
		}
	}
	return tw.Close()
}

// packParents writes the directories above a name, once each.
func packParents(tw *tar.Writer, dir string, packed map[string]bool) error {
	if packed[dir] {
		return nil
	}
	if err := packParents(tw, filepath.Dir(dir), packed); err != nil {
		return err
	}
	packed[dir] = true
	return tw.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: filepath.ToSlash(dir), Mode: 0o755})
}

func packOne(tw *tar.Writer, path, name string, d fs.DirEntry, packed map[string]bool) error {
	if packed[name] {
		return nil
	}
	packed[name] = true
	if !d.IsDir() && !d.Type().IsRegular() && d.Type() != fs.ModeSymlink {
		return nil // sockets and devices are not copied
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	link := ""
	if d.Type() == fs.ModeSymlink {
		if link, err = os.Readlink(path); err != nil {
			return err
		}
	}
	h, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	// The owner here has no meaning on the other machine.
	h.Name, h.Uid, h.Gid, h.Uname, h.Gname = name, 0, 0, "", ""
	if err := tw.WriteHeader(h); err != nil || !d.Type().IsRegular() {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	// A file that grows while it is read must not break the stream.
	n, err := io.Copy(tw, io.LimitReader(f, h.Size))
	if err == nil && n < h.Size {
		err = fmt.Errorf("%s shrank while it was read", strings.TrimPrefix(name, "./"))
	}
	return err
}
