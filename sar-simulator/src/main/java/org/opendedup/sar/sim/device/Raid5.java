package org.opendedup.sar.sim.device;

import java.util.ArrayList;
import java.util.List;

/**
 * A left-symmetric RAID 5. A partial write of a stripe costs the small-write penalty: old data and old parity are read,
 * and when all of that has been read, new data and new parity are written. A full stripe is written with its parity,
 * without reading. For one thread.
 */
final class Raid5 implements Device {
    private final List<Device> disks;
    private final Raid5Layout layout;
    private final long capacityBytes;

    /** @param disks at least three, all of one size */
    Raid5(List<? extends Device> disks, long unitBytes) {
        if (disks.size() < 3) {
            throw new IllegalArgumentException("RAID 5 of " + disks.size() + " disks; it takes at least 3");
        }
        this.disks = List.copyOf(disks);
        layout = new Raid5Layout(disks.size(), unitBytes);
        capacityBytes = disks.get(0).capacityBytes() / unitBytes * layout.stripeBytes();
    }

    /** A range of bytes on one disk. */
    private record Piece(int disk, long offset, long bytes) {}

    @Override
    public void submit(Transfer transfer, Completion completion) {
        Device.checkFits(transfer, capacityBytes);
        if (transfer.isWrite()) {
            write(transfer, completion);
        } else {
            submit(false, pieces(transfer.offset(), transfer.end()), completion);
        }
    }

    private void write(Transfer transfer, Completion completion) {
        long first = transfer.offset() / layout.stripeBytes();
        long last = (transfer.end() - 1) / layout.stripeBytes();
        Joint joint = new Joint((int) (last - first + 1), completion);
        for (long stripe = first; stripe <= last; stripe++) {
            long start = Math.max(transfer.offset(), stripe * layout.stripeBytes());
            long end = Math.min(transfer.end(), (stripe + 1) * layout.stripeBytes());
            writeStripe(stripe, start, end, joint);
        }
    }

    private void writeStripe(long stripe, long start, long end, Completion completion) {
        List<Piece> pieces = pieces(start, end);
        boolean isWhole = end - start == layout.stripeBytes();
        pieces.add(parity(stripe, pieces));
        if (isWhole) {
            submit(true, pieces, completion);
        } else {
            submit(false, pieces, () -> submit(true, pieces, completion));
        }
    }

    /** Returns the parity range of a write to a stripe: from the first changed place in a unit to the last. */
    private Piece parity(long stripe, List<Piece> data) {
        long start = Long.MAX_VALUE;
        long end = 0;
        for (Piece piece : data) {
            start = Math.min(start, piece.offset());
            end = Math.max(end, piece.offset() + piece.bytes());
        }
        return new Piece(layout.parityDisk(stripe), start, end - start);
    }

    private List<Piece> pieces(long start, long end) {
        List<Piece> pieces = new ArrayList<>();
        for (long offset = start; offset < end; ) {
            long unit = offset / layout.unitBytes();
            long unitEnd = Math.min(end, (unit + 1) * layout.unitBytes());
            long place = layout.diskOffset(layout.stripe(unit)) + offset % layout.unitBytes();
            pieces.add(new Piece(layout.dataDisk(unit), place, unitEnd - offset));
            offset = unitEnd;
        }
        return pieces;
    }

    private void submit(boolean isWrite, List<Piece> pieces, Completion completion) {
        Joint joint = new Joint(pieces.size(), completion);
        for (Piece piece : pieces) {
            disks.get(piece.disk()).submit(new Transfer(isWrite, piece.offset(), piece.bytes()), joint);
        }
    }

    @Override
    public long capacityBytes() {
        return capacityBytes;
    }

    @Override
    public DeviceStatistics statistics() {
        return disks.stream().map(Device::statistics).reduce(DeviceStatistics.NONE, DeviceStatistics::plus);
    }
}
