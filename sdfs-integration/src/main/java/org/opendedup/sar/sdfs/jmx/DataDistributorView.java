package org.opendedup.sar.sdfs.jmx;

import org.opendedup.sar.tier.distributor.DistributorStatistics;

/** Implements {@link DataDistributorMXBean} on {@link SarAdministration}. */
record DataDistributorView(SarAdministration sar) implements DataDistributorMXBean {
    @Override
    public long getChunks() {
        return figures().chunks();
    }

    @Override
    public long getUnread() {
        return figures().unread();
    }

    @Override
    public long getSsdHits() {
        return figures().ssdHits();
    }

    @Override
    public long getSsdBytes() {
        return figures().ssdBytes();
    }

    @Override
    public long getSsdRequests() {
        return figures().ssdRequests();
    }

    @Override
    public long getHomeReads() {
        return figures().homeReads();
    }

    @Override
    public long getHomeBytes() {
        return figures().homeBytes();
    }

    @Override
    public long getMemoryHits() {
        return figures().memoryHits();
    }

    @Override
    public long getLate() {
        return figures().late();
    }

    @Override
    public long getSsdLatencyReads() {
        return figures().ssdLatency().reads();
    }

    @Override
    public double getSsdLatencyMeanMicros() {
        return figures().ssdLatency().meanMicros();
    }

    @Override
    public long getSsdLatencyP50Micros() {
        return figures().ssdLatency().p50Micros();
    }

    @Override
    public long getSsdLatencyP95Micros() {
        return figures().ssdLatency().p95Micros();
    }

    @Override
    public long getSsdLatencyP99Micros() {
        return figures().ssdLatency().p99Micros();
    }

    @Override
    public long getSsdLatencyP999Micros() {
        return figures().ssdLatency().p999Micros();
    }

    @Override
    public long getSsdLatencyMaxMicros() {
        return figures().ssdLatency().maxMicros();
    }

    @Override
    public long getHomeLatencyReads() {
        return figures().homeLatency().reads();
    }

    @Override
    public double getHomeLatencyMeanMicros() {
        return figures().homeLatency().meanMicros();
    }

    @Override
    public long getHomeLatencyP50Micros() {
        return figures().homeLatency().p50Micros();
    }

    @Override
    public long getHomeLatencyP95Micros() {
        return figures().homeLatency().p95Micros();
    }

    @Override
    public long getHomeLatencyP99Micros() {
        return figures().homeLatency().p99Micros();
    }

    @Override
    public long getHomeLatencyP999Micros() {
        return figures().homeLatency().p999Micros();
    }

    @Override
    public long getHomeLatencyMaxMicros() {
        return figures().homeLatency().maxMicros();
    }

    private DistributorStatistics figures() {
        return sar.status().distributor();
    }
}
