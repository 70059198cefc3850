package probe

import (
	"strconv"
	"strings"
)

// readThermal reads the temperatures under /sys/class/hwmon and /sys/class/thermal.
// Virtual machines have none.
func readThermal(src Source) Thermal {
	var t Thermal
	hwmons, _ := src.ReadDir("sys/class/hwmon")
	for _, h := range hwmons {
		dir := "sys/class/hwmon/" + h
		name := readLine(src, dir+"/name")
		files, _ := src.ReadDir(dir)
		for _, f := range files {
			stem, ok := strings.CutSuffix(f, "_input")
			if !ok || !strings.HasPrefix(stem, "temp") {
				continue
			}
			label := name
			if l := readLine(src, dir+"/"+stem+"_label"); l != "" {
				label += " " + l
			}
			t.add(label, readLine(src, dir+"/"+f), readLine(src, dir+"/"+stem+"_crit"))
		}
	}
	zones, _ := src.ReadDir("sys/class/thermal")
	for _, z := range zones {
		if strings.HasPrefix(z, "thermal_zone") && len(t.Sensors) == 0 {
			dir := "sys/class/thermal/" + z
			t.add(readLine(src, dir+"/type"), readLine(src, dir+"/temp"), "")
		}
	}
	return t
}

// add adds a sensor, with temperatures in thousandths of a degree. The machine counts as
// throttled if a sensor is at its critical temperature.
func (t *Thermal) add(name, milli, critMilli string) {
	v, err := strconv.ParseInt(milli, 10, 32)
	if err != nil || v <= -100_000 || v >= 300_000 {
		return
	}
	s := Sensor{Name: name, Celsius: float64(v) / 1000}
	if c, err := strconv.ParseInt(critMilli, 10, 32); err == nil && c > 0 && c < 300_000 {
		s.Critical = float64(c) / 1000
		if s.Celsius >= s.Critical {
			t.Throttled = true
			t.Note = name + " is at its critical temperature"
		}
	}
	t.Sensors, t.Known = append(t.Sensors, s), true
}
