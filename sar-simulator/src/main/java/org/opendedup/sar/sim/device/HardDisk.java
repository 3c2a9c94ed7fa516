package org.opendedup.sar.sim.device;

/**
 * A hard disk: an arm with a seek curve, a spindle whose angle follows from the time, zones, a C-LOOK queue and
 * read-ahead into its own memory. Writes are not cached: they are done when they are on the disk. For one thread.
 *
 * <p>The time of a request is its overhead, the seek, the rotation until its first byte is under the head, and the
 * transfer. So rewriting data that was just read waits for the rest of a revolution, without a special rule.
 */
final class HardDisk implements Device {
    private static final double NANOS_PER_SECOND = 1e9;

    private final Simulation simulation;
    private final DiskParameters parameters;
    private final DiskGeometry geometry;
    private final SeekCurve seeks;
    private final ReadAhead readAhead;
    private final ClookQueue<Request> queue = new ClookQueue<>();
    private final Meter meter;
    private boolean isServing;
    private int cylinder;

    private record Request(Transfer transfer, Completion completion) {}

    HardDisk(Simulation simulation, DiskParameters parameters) {
        this.simulation = simulation;
        this.parameters = parameters;
        geometry = new DiskGeometry(parameters);
        seeks = new SeekCurve(parameters.seeks(), parameters.cylinders());
        readAhead = new ReadAhead(geometry, parameters.readAheadBytes(), parameters.readAheadSegments());
        meter = new Meter(simulation, parameters.power());
    }

    @Override
    public void submit(Transfer transfer, Completion completion) {
        Device.checkFits(transfer, parameters.capacityBytes());
        meter.submitted();
        queue.add(transfer.offset(), new Request(transfer, completion));
        if (!isServing) {
            serveNext();
        }
    }

    private void serveNext() {
        Request next = queue.take();
        isServing = next != null;
        if (next != null) {
            simulation.at(serve(next.transfer()), () -> finish(next));
        }
    }

    private void finish(Request request) {
        meter.served(request.transfer());
        // Still serving: requests that the completion submits are queued with the rest, so that only the queue decides
        // the order.
        request.completion().done();
        serveNext();
    }

    /** Returns the end of a transfer that begins now. */
    private long serve(Transfer transfer) {
        long startNanos = simulation.nowNanos() + parameters.overheadNanos();
        if (transfer.isWrite()) {
            readAhead.stop(startNanos);
            readAhead.forget(transfer);
            return moveAndTransfer(transfer, startNanos);
        }
        long available = readAhead.availableNanos(transfer, startNanos);
        if (available != ReadAhead.MISS) {
            double interfaceNanos = transfer.bytes() * NANOS_PER_SECOND / parameters.interfaceBytesPerSecond();
            return Math.max(available, startNanos + Math.round(interfaceNanos));
        }
        readAhead.stop(startNanos);
        long doneNanos = moveAndTransfer(transfer, startNanos);
        readAhead.readOn(transfer, doneNanos, parameters.capacityBytes());
        return doneNanos;
    }

    private long moveAndTransfer(Transfer transfer, long startNanos) {
        int target = geometry.cylinder(transfer.offset());
        long arrived = startNanos + seeks.nanos(Math.abs(target - cylinder));
        long turn = parameters.revolutionNanos();
        long wait = Math.floorMod(geometry.angleNanos(transfer.offset()) - arrived % turn, turn);
        cylinder = geometry.cylinder(transfer.end() - 1);
        return arrived + wait + geometry.transferNanos(transfer.offset(), transfer.bytes());
    }

    @Override
    public long capacityBytes() {
        return parameters.capacityBytes();
    }

    @Override
    public DeviceStatistics statistics() {
        return meter.statistics();
    }
}
