package org.opendedup.sar.volume.store;

import static org.opendedup.sar.container.format.PackFormat.isPack;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDevice;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.FileRange;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.io.RequestCost;
import org.opendedup.sar.io.SystemError;
import org.opendedup.sar.io.TransferBuffers;
import org.opendedup.sar.metadata.record.DataLocation;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeIdentity;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The data locations of a volume as one directory: packs are spread over them, and every other file is in the first one
 * (docs/adr/0109). A pack is looked for in each location. A new one is made where most space is free.
 */
public final class DataLocations implements Directory {
    private static final Logger log = LoggerFactory.getLogger(DataLocations.class);

    /**
     * Bytes that stay free in each of several locations, or an eighth of a smaller device: room for what ten containers
     * that are being written still need, 5 MiB each, with the 16 MiB that each of their packs has reserved.
     */
    private static final long REST_BYTES = 256L << 20;

    private static final int REST_PART = 8;

    private final Object creating = new Object();
    private final Device device = new SpreadDevice();
    private final TransferBuffers buffers;
    private volatile List<Location> all;
    /** The different devices of the locations: each change of metadata asks for them. */
    private volatile List<Device> devices;

    /** @param buffers for locations that are added */
    private DataLocations(List<Location> all, TransferBuffers buffers) {
        this.all = List.copyOf(all);
        devices = devicesOf(all);
        this.buffers = buffers;
    }

    private static List<Device> devicesOf(List<Location> locations) {
        return locations.stream().map(Location::device).distinct().toList();
    }

    private void use(List<Location> locations) {
        all = locations;
        devices = devicesOf(locations);
    }

    /**
     * Opens the data locations of a volume, for tools.
     *
     * @throws IOException if one is missing, or is no location of the volume of the first one; names it
     */
    public static DataLocations open(VolumeConfig.Locations locations) throws IOException {
        return open(locations, new TransferBuffers(FileDirectory.TRANSFER_BUFFERS));
    }

    /** As above; all of them transfer bytes through the same buffers. */
    static DataLocations open(VolumeConfig.Locations locations, TransferBuffers buffers) throws IOException {
        List<Location> opened = new ArrayList<>();
        for (Path folder : locations.allData()) {
            opened.add(Location.at(folder, buffers));
        }
        DataLocations data = new DataLocations(opened, buffers);
        data.checkIdentities();
        return data;
    }

    /**
     * Makes an empty directory a data location of a volume, durably. What an earlier call left half done is completed.
     *
     * @param first the first data location of the volume
     * @throws IOException if the directory has something else, or there is no volume in {@code first}
     */
    public static void prepare(Directory first, Directory folder) throws IOException {
        UUID volume = VolumeIdentity.volume(first);
        Epoch epoch = VolumeIdentity.read(first, volume == null ? new UUID(0, 0) : volume);
        if (folder.list().stream().anyMatch(name -> !name.startsWith(VolumeIdentity.NAME))) {
            throw new FileAlreadyExistsException(folder.toString(), null, "the folder is not empty");
        }
        long number = VolumeIdentity.FIRST;
        if (folder.exists(VolumeIdentity.NAME)) {
            var unused = VolumeIdentity.read(folder, epoch.volume());
            number = VolumeIdentity.location(folder);
            if (number == VolumeIdentity.FIRST) {
                throw new FileAlreadyExistsException(folder.toString(), null, "it is the first data location");
            }
        }
        while (number == VolumeIdentity.FIRST) {
            number = new SecureRandom().nextLong();
        }
        VolumeIdentity.write(folder, epoch, number);
    }

    /** Returns directories as locations that are each on a device of their own; itself, if it is that already. */
    public static DataLocations of(Directory... directories) throws IOException {
        if (directories.length == 1 && directories[0] instanceof DataLocations data) {
            return data;
        }
        List<Location> locations = new ArrayList<>();
        for (Directory directory : directories) {
            locations.add(new Location(directory, Device.of(directory), VolumeIdentity.location(directory)));
        }
        return new DataLocations(locations, new TransferBuffers(FileDirectory.TRANSFER_BUFFERS));
    }

    /** Returns a directory as the only location, whose files are written to a folder first. */
    static DataLocations of(Directory directory, Path folder) throws IOException {
        Location location = new Location(directory, FileDevice.of(folder), VolumeIdentity.FIRST);
        return new DataLocations(List.of(location), new TransferBuffers(FileDirectory.TRANSFER_BUFFERS));
    }

    /** Returns the same locations, in which nothing is changed. */
    DataLocations withDirectories(UnaryOperator<Directory> wrapped) {
        List<Location> same = all.stream()
                .map(each -> new Location(wrapped.apply(each.directory()), each.device(), each.number()))
                .toList();
        return new DataLocations(same, buffers);
    }

    private void checkIdentities() throws IOException {
        List<Location> locations = all;
        UUID volume = locations.size() == 1 ? null : VolumeIdentity.volume(first());
        Map<Long, Location> numbers = new HashMap<>();
        for (Location location : locations) {
            if (volume != null) {
                var unused = VolumeIdentity.read(location.directory(), volume);
            }
            Location same = numbers.putIfAbsent(location.number(), location);
            if (same != null) {
                throw new IOException("the data locations " + same + " and " + location
                        + " are the same one, or one is a copy of the other; name one of them");
            }
        }
    }

    /**
     * Returns the epoch in which all locations were last used: that of the one that was last used longest ago.
     *
     * @throws IOException if one is missing, or another volume's; names it
     */
    public Epoch lastUsed(UUID volume) throws IOException {
        Epoch oldest = VolumeIdentity.read(first(), volume);
        for (Location location : all) {
            Epoch found = VolumeIdentity.read(location.directory(), volume);
            oldest = found.number() < oldest.number() ? found : oldest;
        }
        return oldest;
    }

    /** Returns the locations, the first one first. */
    public List<Location> locations() {
        return all;
    }

    @Override
    public List<Directory> parts() {
        return all.stream().map(Location::directory).toList();
    }

    /**
     * Opens a folder as a further location, and does not use it yet.
     *
     * @throws IOException if it is missing, or no location of this volume, or one that is used
     */
    public Location openFurther(Path folder) throws IOException {
        Location location = Location.at(folder, buffers);
        with(location).checkIdentities();
        return location;
    }

    private DataLocations with(Location location) {
        List<Location> more = new ArrayList<>(all);
        more.add(location);
        return new DataLocations(more, buffers);
    }

    /** Uses another location from now on. */
    public void add(Location location) {
        synchronized (creating) {
            use(with(location).all);
        }
    }

    /** Returns the records of the locations that were added to the volume. */
    public List<DataLocation> records() {
        return all.stream()
                .filter(location -> location.number() != VolumeIdentity.FIRST)
                .map(Location::record)
                .toList();
    }

    /**
     * Checks that each location that the metadata know is among these.
     *
     * @throws IOException if one is not; names the folder where it was last
     */
    public void requireAll(List<DataLocation> known) throws IOException {
        for (DataLocation location : known) {
            if (location.state() != DataLocation.State.LEFT
                    && all.stream().noneMatch(each -> each.number() == location.number())) {
                throw new IOException("the volume has a data location that its file does not name; it was last in "
                        + location.path() + ". Add its folder to the attribute further-chunk-stores of"
                        + " <local-chunkstore>");
            }
        }
    }

    /** Returns the locations that a device adds up; none if it is no {@link #device} of locations. */
    static List<Location> on(Device device) {
        return device instanceof SpreadDevice spread ? spread.locations() : List.of();
    }

    /** Uses a location no more. */
    public void remove(Location location) {
        synchronized (creating) {
            use(all.stream().filter(each -> each != location).toList());
        }
    }

    /**
     * Returns the further location in a folder.
     *
     * @throws IOException if there is none, or it is the first one
     */
    public Location further(Path folder) throws IOException {
        for (Location location : all) {
            if (location.toString().equals(folder.toString())) {
                if (location == all.get(0)) {
                    throw new IOException(folder + " is the first data location, which also has the marks of the volume"
                            + " and the backups of its metadata: it stays");
                }
                return location;
            }
        }
        throw new IOException(folder + " is no data location of the volume; there are " + this);
    }

    /** Returns the devices of the locations as one, whose space is what new packs can use of all of them. */
    public Device device() {
        return device;
    }

    private Directory first() {
        return all.get(0).directory();
    }

    /**
     * Returns the location that has a file.
     *
     * @throws NoSuchFileException if none has it
     * @throws IOException also if that is not known because a location does not answer
     */
    private Location holder(String name) throws IOException {
        List<Location> locations = all;
        if (locations.size() == 1 || !isPack(name)) {
            return locations.get(0);
        }
        IOException noAnswer = null;
        for (Location location : locations) {
            try {
                if (location.call(directory -> directory.exists(name))) {
                    return location;
                }
            } catch (IOException e) {
                noAnswer = e;
            }
        }
        for (Location location : locations) {
            if (!location.isPresent()) {
                throw new IOException(
                        "whether the volume still has " + name + " is not known, because the data location " + location
                                + " is not there: " + SystemError.NO_DEVICE_TEXT,
                        noAnswer);
            }
        }
        if (noAnswer != null) {
            throw noAnswer;
        }
        throw new NoSuchFileException(this + "/" + name);
    }

    @Override
    public Output create(String name) throws IOException {
        return create(name, this::exists);
    }

    /** Makes a pack also while the disk of a location is away: what lies there cannot have its name. */
    @Override
    public Output createFresh(String name) throws IOException {
        return create(name, this::isKnown);
    }

    /** Says whether there is a file of a name. */
    @FunctionalInterface
    private interface Existence {
        boolean exists(String name) throws IOException;
    }

    private Output create(String name, Existence existence) throws IOException {
        if (all.size() == 1 || !isPack(name)) {
            return first().create(name);
        }
        synchronized (creating) {
            if (existence.exists(name)) {
                throw new FileAlreadyExistsException(this + "/" + name);
            }
            return createPack(name);
        }
    }

    /** Returns whether a location that answers has a file. */
    private boolean isKnown(String name) {
        for (Location location : all) {
            try {
                if (location.directory().exists(name)) {
                    return true;
                }
            } catch (IOException e) {
                log.debug("{} does not answer", location, e);
            }
        }
        return false;
    }

    private Output createPack(String name) throws IOException {
        IOException failure = null;
        for (Location location : byFreeSpace()) {
            try {
                return location.create(name);
            } catch (IOException e) {
                if (failure == null) {
                    failure = e;
                } else if (e instanceof NoSpaceException && !(failure instanceof NoSpaceException)) {
                    // Space may come back, so this is what a stream can wait for.
                    e.addSuppressed(failure);
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        throw failure == null ? new IOException("there is no data location") : failure;
    }

    /** Returns the locations; first those that took their last pack, then those with the most space. */
    private List<Location> byFreeSpace() {
        Map<Location, Long> free = new HashMap<>();
        List<Location> ordered = new ArrayList<>(all);
        ordered.removeIf(Location::isLeaving);
        ordered.forEach(location -> free.put(location, usableBytes(location.device())));
        ordered.sort(Comparator.<Location, Boolean>comparing(location -> location.refusal() != null)
                .thenComparing(free::get, Comparator.reverseOrder()));
        return ordered;
    }

    private static long usableBytes(Device device) {
        try {
            return device.usableBytes();
        } catch (IOException e) {
            log.debug("the space of {} is not known", device, e);
            return 0;
        }
    }

    /** Returns the bytes of a device above the rest that stays free. */
    private static long roomBytes(Device device) {
        try {
            return Math.max(0, device.usableBytes() - Math.min(REST_BYTES, device.totalBytes() / REST_PART));
        } catch (IOException e) {
            log.debug("the space of {} is not known", device, e);
            return 0;
        }
    }

    @Override
    public boolean takesMore(String name) {
        List<Location> locations = all;
        if (locations.size() == 1) {
            return first().takesMore(name);
        }
        try {
            Location present = holder(name);
            if (present.isLeaving()) {
                return false;
            } else if (present.refusal() == null && roomBytes(present.device()) > 0) {
                return true;
            }
        } catch (IOException e) {
            log.debug("{} gets no more, because its location does not answer", name, e);
            return false;
        }
        return locations.stream().noneMatch(location -> location.takesPacks() && roomBytes(location.device()) > 0);
    }

    @Override
    public Optional<RequestCost> requestCost() {
        return first().requestCost();
    }

    @Override
    public Input open(String name) throws IOException {
        return holder(name).open(name, directory -> directory.open(name));
    }

    @Override
    public boolean exists(String name) throws IOException {
        try {
            return holder(name).call(directory -> directory.exists(name));
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    @Override
    public long length(String name) throws IOException {
        return holder(name).call(directory -> directory.length(name));
    }

    @Override
    public void rename(String from, String to) throws IOException {
        holder(from).directory().rename(from, to);
    }

    @Override
    public void delete(String name) throws IOException {
        holder(name).call(directory -> {
            directory.delete(name);
            return name;
        });
    }

    @Override
    public List<String> list() throws IOException {
        List<String> names = new ArrayList<>();
        forEach(names::add);
        Collections.sort(names);
        return names;
    }

    @Override
    public void forEach(NameVisitor visitor) throws IOException {
        List<Location> locations = all;
        for (Location location : locations) {
            boolean isFirst = location == locations.get(0);
            location.call(directory -> {
                directory.forEach(isFirst ? visitor : name -> visitIfPack(name, visitor));
                return directory;
            });
        }
    }

    private static void visitIfPack(String name, NameVisitor visitor) throws IOException {
        if (isPack(name)) {
            visitor.visit(name);
        }
    }

    @Override
    public List<String> names() throws IOException {
        return first().names();
    }

    @Override
    public List<String> listFrom(String from) throws IOException {
        List<String> names = new ArrayList<>(first().listFrom(from));
        for (Directory part : parts()) {
            if (part != first()) {
                part.listFrom(from).stream().filter(PackFormat::isPack).forEach(names::add);
            }
        }
        Collections.sort(names);
        return names;
    }

    @Override
    public void trim(String name) throws IOException {
        holder(name).call(directory -> {
            directory.trim(name);
            return name;
        });
    }

    @Override
    public boolean release(String name, List<FileRange> ranges) throws IOException {
        return holder(name).call(directory -> directory.release(name, ranges));
    }

    @Override
    public boolean freesRanges(String name) throws IOException {
        return holder(name).call(directory -> directory.freesRanges(name));
    }

    @Override
    public Input openLasting(String name) throws IOException {
        return holder(name).open(name, directory -> directory.openLasting(name));
    }

    @Override
    public boolean isCopy(String name) throws IOException {
        // Of several locations, which are folders, none has copies.
        return all.size() == 1 && first().isCopy(name);
    }

    @Override
    public void storeMissing() throws IOException {
        for (Location location : all) {
            location.directory().storeMissing();
        }
    }

    @Override
    public void whenLost(Runnable toTell) {
        for (Location location : all) {
            location.directory().whenLost(toTell);
        }
    }

    @Override
    public double leastDeadShare(String name) throws IOException {
        return holder(name).call(directory -> directory.leastDeadShare(name));
    }

    @Override
    public long allocatedBytes(String name) throws IOException {
        return holder(name).call(directory -> directory.allocatedBytes(name));
    }

    /**
     * Makes names durable. A further location whose disk is gone, or read-only, fails nothing: it has packs only, and
     * {@link #checkName} says of each whether its name is durable. What others have must not wait for it.
     */
    @Override
    public void sync() throws IOException {
        Closing each = new Closing();
        List<Location> locations = all;
        each.run(locations.get(0).directory()::sync);
        for (Location further : locations.subList(1, locations.size())) {
            each.run(further::syncIfPossible);
        }
        each.finish();
    }

    @Override
    public void checkName(String name) throws IOException {
        for (Directory part : parts()) {
            part.checkName(name);
        }
    }

    @Override
    public long usableBytes() throws IOException {
        return device.usableBytes();
    }

    /** Returns the folders, with colons between them, as the volume file names them. */
    @Override
    public String toString() {
        return all.stream().map(Location::toString).collect(Collectors.joining(":"));
    }

    /** The sum of the devices of the locations; two locations on one device count once. */
    private final class SpreadDevice implements Device {
        List<Location> locations() {
            return all;
        }

        @Override
        public List<Device> parts() {
            return devices;
        }

        @Override
        public long usableBytes() throws IOException {
            List<Device> parts = devices;
            if (parts.size() == 1) {
                return parts.get(0).usableBytes();
            }
            Set<Device> taking = all.stream()
                    .filter(Location::takesPacks)
                    .map(Location::device)
                    .collect(Collectors.toSet());
            return taking.stream().mapToLong(DataLocations::roomBytes).reduce(0, SpreadDevice::sum);
        }

        @Override
        public long totalBytes() throws IOException {
            long bytes = 0;
            for (Device each : parts()) {
                bytes = sum(bytes, each.totalBytes());
            }
            return bytes;
        }

        /** Devices whose space is not known have as much as a number can say. */
        private static long sum(long some, long more) {
            return more > Long.MAX_VALUE - some ? Long.MAX_VALUE : some + more;
        }

        @Override
        public String toString() {
            return DataLocations.this.toString();
        }
    }
}
