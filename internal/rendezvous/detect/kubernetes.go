package detect

import (
	"net"
	"strconv"
	"strings"

	"thundercollective/internal/env"
)

// kubernetes gets the pod's index from the Job controller's variable or from the number
// at the end of the pod's name. Kubernetes does not tell how many pods there are:
// without a world size, the pod is not a rank. Pod 0 has the same name with another
// number, in the same headless service, which is the second label of this pod's full
// name.
func kubernetes(r *reader) Job {
	size := env.WorldSize
	if r.Getenv(size) == "" {
		size = "WORLD_SIZE"
	}
	job := Job{Size: r.count(size)}
	host, err := r.Hostname()
	if err != nil {
		r.fail("HOSTNAME", "", err.Error())
		return job
	}
	host, _, _ = strings.Cut(host, ".")
	cut := strings.LastIndexByte(host, '-')
	index := host[cut+1:]
	if _, err := strconv.Atoi(index); cut < 0 || err != nil {
		r.absent = true // a pod of a Deployment has no index
		return job
	}
	job.Rank = r.number("HOSTNAME", index)
	if v := r.Getenv("JOB_COMPLETION_INDEX"); v != "" {
		job.Rank = r.number("JOB_COMPLETION_INDEX", v)
	}
	first := host[:cut] + "-0"
	if service := r.service(host); service != "" {
		first += "." + service
	} else if job.Size > 1 && !r.absent {
		r.fail("HOSTNAME", host, "the pod has no headless service: set subdomain (Job) or serviceName (StatefulSet)")
	}
	port := DefaultPort
	if p := r.ports(); p.First != 0 {
		port = p.First
	}
	job.Coordinator = net.JoinHostPort(first, strconv.Itoa(port))
	return job
}

// service returns the name of the pod's headless service, from the line that the kubelet
// writes for the pod: "10.0.0.7  name.service.namespace.svc...  name".
func (r *reader) service(host string) string {
	hosts, _ := r.ReadFile("/etc/hosts")
	for line := range strings.Lines(string(hosts)) {
		for _, name := range strings.Fields(line) {
			if rest, ok := strings.CutPrefix(name, host+"."); ok {
				service, _, _ := strings.Cut(rest, ".")
				return service
			}
		}
	}
	return ""
}
