package probe

import "strings"

// readGPUs returns the graphics and compute cards of a Linux machine.
func readGPUs(src Source) []GPU {
	var out []GPU
	gpus, _ := src.ReadDir("proc/driver/nvidia/gpus")
	for _, g := range gpus {
		b, err := src.ReadFile("proc/driver/nvidia/gpus/" + g + "/information")
		if err != nil {
			continue
		}
		if name := ParseSysctl(b)["Model"]; name != "" {
			out = append(out, GPU{Name: name})
		}
	}
	cards, _ := src.ReadDir("sys/class/drm")
	for _, c := range cards {
		if !strings.HasPrefix(c, "card") || strings.Contains(c, "-") {
			continue
		}
		dir := "sys/class/drm/" + c + "/device"
		vendor, device := hexID(src, dir+"/vendor"), hexID(src, dir+"/device")
		switch {
		case readLine(src, dir+"/product_name") != "":
			out = append(out, GPU{Name: readLine(src, dir+"/product_name")})
		case vendor == "1002":
			out = append(out, GPU{Name: "AMD " + device})
		case vendor == "8086":
			out = append(out, GPU{Name: "Intel " + device})
		}
	}
	return out
}
