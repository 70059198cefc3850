package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// A Label is a name and what it stands for here.
type Label struct{ Name, Value string }

// A Scrape takes the series of one scrape.
type Scrape struct{ series chan<- prometheus.Metric }

// Handler answers scrapes with what collect reports. All series carry the labels given.
func Handler(collect func(*Scrape), labels ...Label) http.Handler {
	registry := prometheus.NewRegistry()
	fixed := prometheus.Labels{}
	for _, l := range labels {
		fixed[l.Name] = l.Value
	}
	prometheus.WrapRegistererWith(fixed, registry).MustRegister(collector(collect))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// A collector reports series that nobody described before: which there are depends on
// what the rank has done and whom it knows.
type collector func(*Scrape)

func (collector) Describe(chan<- *prometheus.Desc) {}

func (c collector) Collect(ch chan<- prometheus.Metric) { c(&Scrape{ch}) }

// Counter reports the value of something that only grows.
func (s *Scrape) Counter(name, help string, value uint64, labels ...Label) {
	s.value(name, help, prometheus.CounterValue, float64(value), labels)
}

// Gauge reports the value of something that goes up and down.
func (s *Scrape) Gauge(name, help string, value float64, labels ...Label) {
	s.value(name, help, prometheus.GaugeValue, value, labels)
}

func (s *Scrape) value(name, help string, kind prometheus.ValueType, value float64, labels []Label) {
	desc, values := describe(name, help, labels)
	m, err := prometheus.NewConstMetric(desc, kind, value, values...)
	s.report(desc, m, err)
}

// Histogram reports a Histogram of seconds.
func (s *Scrape) Histogram(name, help string, h *Histogram, labels ...Label) {
	desc, values := describe(name, help, labels)
	count, sum, below := h.read()
	m, err := prometheus.NewConstHistogram(desc, count, sum, below, values...)
	s.report(desc, m, err)
}

// report has a scrape fail that something is wrong with.
func (s *Scrape) report(desc *prometheus.Desc, m prometheus.Metric, err error) {
	if err != nil {
		m = prometheus.NewInvalidMetric(desc, err)
	}
	s.series <- m
}

func describe(name, help string, labels []Label) (desc *prometheus.Desc, values []string) {
	var names []string
	for _, l := range labels {
		names, values = append(names, l.Name), append(values, l.Value)
	}
	return prometheus.NewDesc(name, help, names, nil), values
}
