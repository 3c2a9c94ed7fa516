package org.opendedup.sar.sim.device;

import java.util.ArrayList;
import java.util.List;

/** A RAID 0: units are striped over devices in turn, without redundancy. For one thread. */
final class Raid0 implements Device {
    private final List<Device> devices;
    private final long unitBytes;
    private final long capacityBytes;

    /** @param devices at least one, all of one size */
    Raid0(List<? extends Device> devices, long unitBytes) {
        this.devices = List.copyOf(devices);
        this.unitBytes = unitBytes;
        capacityBytes = devices.get(0).capacityBytes() / unitBytes * unitBytes * devices.size();
    }

    private record Piece(Device device, Transfer transfer) {}

    @Override
    public void submit(Transfer transfer, Completion completion) {
        Device.checkFits(transfer, capacityBytes);
        List<Piece> pieces = new ArrayList<>();
        for (long offset = transfer.offset(); offset < transfer.end(); ) {
            long unit = offset / unitBytes;
            long end = Math.min(transfer.end(), (unit + 1) * unitBytes);
            Device device = devices.get((int) (unit % devices.size()));
            long place = unit / devices.size() * unitBytes + offset % unitBytes;
            pieces.add(new Piece(device, new Transfer(transfer.isWrite(), place, end - offset)));
            offset = end;
        }
        Joint joint = new Joint(pieces.size(), completion);
        for (Piece piece : pieces) {
            piece.device().submit(piece.transfer(), joint);
        }
    }

    @Override
    public long capacityBytes() {
        return capacityBytes;
    }

    @Override
    public DeviceStatistics statistics() {
        return devices.stream().map(Device::statistics).reduce(DeviceStatistics.NONE, DeviceStatistics::plus);
    }
}
