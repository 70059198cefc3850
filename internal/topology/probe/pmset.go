package probe

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// ParsePmset returns the sleep setting of `pmset -g`, in minutes; nil if there is none.
func ParsePmset(b []byte) *int {
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) >= 2 && f[0] == "sleep" {
			if n, err := strconv.Atoi(f[1]); err == nil {
				return &n
			}
		}
	}
	return nil
}

// ParsePmsetTherm parses `pmset -g therm`: whether the system slows the processor down
// because of heat.
func ParsePmsetTherm(b []byte) Thermal {
	t := Thermal{Known: true}
	for line := range strings.Lines(string(b)) {
		k, v, ok := strings.Cut(line, "=")
		if !ok || strings.TrimSpace(k) != "CPU_Speed_Limit" {
			continue
		}
		if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil && n < 100 {
			t.Throttled = true
			t.Note = fmt.Sprintf("processor limited to %d %% of its speed", n)
		}
	}
	return t
}

// ParseDisplays returns the graphics cards of `system_profiler SPDisplaysDataType -json`.
func ParseDisplays(b []byte) ([]GPU, error) {
	var doc struct {
		Cards []struct {
			Model string `json:"sppci_model"`
			Cores string `json:"sppci_cores"`
		} `json:"SPDisplaysDataType"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("parse display report: %w", err)
	}
	var out []GPU
	for _, c := range doc.Cards {
		if c.Model != "" {
			n, _ := strconv.Atoi(c.Cores)
			out = append(out, GPU{Name: c.Model, Cores: n})
		}
	}
	return out, nil
}
