package org.opendedup.sar.sim.sar;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.opendedup.sar.sim.block.BlockRequest;
import org.opendedup.sar.sim.block.BlockTrace;
import org.opendedup.sar.sim.device.Device;
import org.opendedup.sar.sim.device.DeviceStatistics;
import org.opendedup.sar.sim.device.Machine;
import org.opendedup.sar.sim.device.Simulation;
import org.opendedup.sar.sim.device.Transfer;

/**
 * Replays a trace on one system (SAR paper §4.2). Requests ahead of the window only change the stored data. In the
 * window, requests arrive at the times of the trace, regardless of the duration of earlier ones. A host has a bounded
 * number of requests in progress: further ones wait, and the wait counts as response time. For one thread.
 */
final class Replay {
    /** Requests of a host with many programs that may be in progress. */
    static final int MANY_UNDER_WAY = 10_000;

    private final Settings settings;
    private final StorageSystem system;
    private final BlockTrace trace;
    private final Simulation simulation = new Simulation();
    private final Device array;
    private final Device ssd;
    private final BlockRequest request = new BlockRequest();
    private final Responses reads = new Responses();
    private final Responses writes = new Responses();
    private final Series series;
    private long warmRequests;
    private long wholeSsdReads;
    private long ssdReadBytes;
    private long arrayReadBytes;
    private int underWay;
    private boolean isHeldBack;

    /**
     * Parameters of a replay.
     *
     * @param readsOnly whether writes in the window also only change the stored data
     * @param timeScale factor for the times between requests: 0.5 replays twice as fast
     * @param bucketNanos length of a part of the series, in nanoseconds of replayed time
     * @param mostUnderWay requests of the host that may be in progress; later ones wait
     */
    record Settings(
            Machine machine, Window window, boolean readsOnly, double timeScale, long bucketNanos, int mostUnderWay) {}

    private Replay(Settings settings, StorageSystem system, BlockTrace trace) {
        this.settings = settings;
        this.system = system;
        this.trace = trace;
        array = settings.machine().newArray(simulation);
        ssd = settings.machine().newSsd(simulation);
        series = new Series(settings.bucketNanos());
    }

    /**
     * Replays all of a trace up to the end of the window.
     *
     * @throws IOException if the trace can't be read
     */
    static SystemResult run(Settings settings, StorageSystem system, BlockTrace trace) throws IOException {
        Replay replay = new Replay(settings, system, trace);
        try {
            if (replay.warmUp()) {
                replay.scheduleArrival();
            }
            replay.simulation.run();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        return replay.result();
    }

    /** Moves to the first request of the window; returns false if there is none. */
    private boolean warmUp() throws IOException {
        while (trace.next(request)) {
            if (request.timeNanos() >= settings.window().fromNanos()) {
                return request.timeNanos() < settings.window().untilNanos();
            }
            system.serve(request, TransferSink.NONE);
            warmRequests++;
        }
        return false;
    }

    private long arrivalNanos() {
        return (long) ((request.timeNanos() - settings.window().fromNanos()) * settings.timeScale());
    }

    private void scheduleArrival() {
        simulation.at(Math.max(simulation.nowNanos(), arrivalNanos()), this::arrive);
    }

    private void arrive() {
        if (underWay == settings.mostUnderWay()) {
            isHeldBack = true;
            return;
        }
        try {
            submit(arrivalNanos());
            if (trace.next(request) && request.timeNanos() < settings.window().untilNanos()) {
                scheduleArrival();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void submit(long arrivalNanos) throws IOException {
        boolean isWrite = request.isWrite();
        if (isWrite && settings.readsOnly()) {
            system.serve(request, TransferSink.NONE);
            return;
        }
        RequestPlan plan = new RequestPlan();
        system.serve(request, plan);
        series.planned(arrivalNanos, plan);
        ssdReadBytes += plan.ssdReadBytes();
        arrayReadBytes += plan.arrayReadBytes();
        wholeSsdReads += plan.ssdReads() > 0 && plan.arrayTransfers() == 0 ? 1 : 0;
        underWay++;
        if (plan.transfers() == 0) {
            finish(plan, isWrite, arrivalNanos);
            return;
        }
        int[] missing = {plan.transfers()};
        Device.Completion completion = () -> {
            if (--missing[0] == 0) {
                finish(plan, isWrite, arrivalNanos);
            }
        };
        plan.ofArray().forEach(transfer -> array.submit(transfer, completion));
        plan.ofSsd().forEach(transfer -> ssd.submit(transfer, completion));
    }

    private void finish(RequestPlan plan, boolean isWrite, long arrivalNanos) {
        long response = simulation.nowNanos() - arrivalNanos;
        (isWrite ? writes : reads).add(response);
        series.done(arrivalNanos, isWrite, response);
        if (plan.laterBytes() > 0) {
            ssd.submit(Transfer.write(0, plan.laterBytes()), () -> {});
        }
        underWay--;
        if (isHeldBack) {
            isHeldBack = false;
            scheduleArrival();
        }
    }

    private SystemResult result() {
        Responses.Summary readSummary = reads.summary();
        long readBytes = ssdReadBytes + arrayReadBytes;
        DeviceStatistics ssdStatistics = ssd.statistics();
        return new SystemResult(
                warmRequests,
                readSummary,
                writes.summary(),
                reads.quantiles(),
                array.statistics(),
                system.hasSsd() ? ssdStatistics : null,
                array.statistics().joules() + (system.hasSsd() ? ssdStatistics.joules() : 0),
                readBytes == 0 ? 0 : (double) ssdReadBytes / readBytes,
                readSummary.requests() == 0 ? 0 : (double) wholeSsdReads / readSummary.requests(),
                system.memoryBytes(),
                series.points());
    }
}
