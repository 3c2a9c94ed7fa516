package org.opendedup.sar.sim.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.remote.Promise;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ObjectStores;
import org.opendedup.sar.objects.reliable.Limits;
import org.opendedup.sar.objects.reliable.ReliableObjectStore;
import org.opendedup.sar.objects.reliable.Timer;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.RemoteSettings;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/**
 * Rates of a volume in an object store, without a mount, next to those of the store alone and of a local volume:
 * writing, opening on a machine that has nothing, restoring in sequence, and random reads of 4 KiB.
 *
 * <p>Arguments: the address of the store (default: a folder that answers 3 ms late), MiB of data (default 1024), MiB of
 * the local cache (default 4096). Everything local is in a folder below that of the variable WORK (default
 * {@code /var/tmp}), which is deleted. The data is random: nothing is deduplicated or compressed.
 */
final class StoredVolumeRates {
    private static final int FILE_BYTES = 64 << 20;
    private static final int PIECE_BYTES = 1 << 20;
    private static final int LANES = 8;
    private static final int RANDOM_READS = 2000;
    private static final Owner OWNER = new Owner(0, 0);

    private final String store;
    private final Path folder;
    private final int files;
    private final long cacheBytes;
    private long begunProcessorNanos;

    private StoredVolumeRates(String store, Path folder, int mib, long cacheBytes) {
        this.store = store;
        this.folder = folder;
        files = Math.max(1, mib / (FILE_BYTES >> 20));
        this.cacheBytes = cacheBytes;
    }

    public static void main(String[] args) throws Exception {
        Path folder = Files.createTempDirectory(
                Path.of(Objects.requireNonNullElse(System.getenv("WORK"), "/var/tmp")), "sar-latency");
        try {
            String address = args.length > 0 ? args[0] : "slow://3" + folder.resolve("store");
            int mib = args.length > 1 ? Integer.parseInt(args[1]) : 1024;
            long cacheMib = args.length > 2 ? Long.parseLong(args[2]) : 4096;
            new StoredVolumeRates(address, folder, mib, cacheMib << 20).run();
        } finally {
            PrivateFiles.deleteFolder(folder);
        }
    }

    private void run() throws Exception {
        alone();
        VolumeConfig local = machine("local");
        Volume.create(local);
        write("local volume", local);
        read("local volume", local);
        for (Promise promise : Promise.values()) {
            RemoteSettings settings = new RemoteSettings(addressOf(promise), promise, cacheBytes);
            if (!ObjectStores.isAddress(store)) {
                Files.createDirectories(Path.of(settings.store()));
            }
            VolumeConfig first = machine("first-" + promise).in(settings);
            Volume.create(first);
            write("durability " + promise, first);
            if (promise == Promise.LOCAL) {
                read("elsewhere, cold", machine("second").in(settings));
                read("elsewhere, again", machine("second").in(settings));
            }
        }
    }

    /** Each promise has a volume of its own, below the address; what follows a question mark are options of a store. */
    private String addressOf(Promise promise) {
        int query = store.indexOf('?');
        String place = query < 0 ? store : store.substring(0, query);
        return place + "/" + promise + store.substring(place.length());
    }

    private VolumeConfig machine(String name) throws IOException {
        Path own = Files.createDirectories(folder.resolve(name));
        return new VolumeConfig(
                name,
                1L << 40,
                95,
                new VolumeConfig.Locations(own.resolve("data"), own.resolve("metadata"), own.resolve("hashdb")),
                Chunking.VARIABLE_SHA256,
                new Compression(Compression.Codec.ZSTD, 1, 64 << 10),
                256 << 10,
                1L << 30,
                2,
                new VolumeConfig.RootDirectory(0755, 0, 0));
    }

    private void alone() throws Exception {
        byte[] bytes = new byte[FILE_BYTES];
        new Random(1).nextBytes(bytes);
        ExecutorService threads = Executors.newFixedThreadPool(LANES);
        try (ObjectStore objects =
                new ReliableObjectStore(ObjectStores.open(store), Limits.DEFAULT, Timer.SYSTEM, new SecureRandom())) {
            List<Callable<Void>> puts = new ArrayList<>();
            List<Callable<Void>> gets = new ArrayList<>();
            for (int file = 0; file < files; file++) {
                String name = "alone/" + file;
                puts.add(() -> {
                    objects.put(name, ObjectSource.of(bytes));
                    return null;
                });
                for (int at = 0; at < FILE_BYTES; at += 4 << 20) {
                    int from = at;
                    gets.add(() -> {
                        objects.read(name, from, ByteBuffer.allocate(4 << 20));
                        return null;
                    });
                }
            }
            long began = begin();
            for (Future<Void> each : threads.invokeAll(puts)) {
                each.get();
            }
            print("store alone", "put", began);
            began = begin();
            for (Future<Void> each : threads.invokeAll(gets)) {
                each.get();
            }
            print("store alone", "get", began);
            for (int file = 0; file < files; file++) {
                objects.delete(List.of("alone/" + file));
            }
        } finally {
            threads.shutdown();
        }
    }

    private void write(String what, VolumeConfig config) throws IOException {
        byte[] piece = new byte[PIECE_BYTES];
        SplittableRandom random = new SplittableRandom(7);
        Volume volume = Volume.open(config);
        long began = begin();
        for (int number = 0; number < files; number++) {
            long inode =
                    volume.makeNode(Inode.ROOT, name(number), 0100644, 0, OWNER).inode();
            OpenFile file = volume.open(inode, true);
            for (int at = 0; at < FILE_BYTES; at += PIECE_BYTES) {
                random.nextBytes(piece);
                volume.write(file, at, ByteBuffer.wrap(piece));
            }
            volume.close(file);
            volume.forget(inode, 1);
        }
        volume.sync();
        print(what, "write and sync", began);
        volume.close();
        print(what, "write until all is in the store", began);
    }

    private static byte[] name(int number) {
        return ("file" + number).getBytes(US_ASCII);
    }

    private void read(String what, VolumeConfig config) throws IOException {
        long began = System.nanoTime();
        try (Volume volume = Volume.open(config)) {
            System.out.printf("%-22s open %.0f ms%n", what, (System.nanoTime() - began) / 1e6);
            randomReads(what + ", cold", volume, 300, 5);
            began = begin();
            byte[] piece = new byte[PIECE_BYTES];
            for (int number = 0; number < files; number++) {
                long inode = volume.lookup(Inode.ROOT, name(number)).inode();
                OpenFile file = volume.open(inode, false);
                for (int at = 0; at < FILE_BYTES; at += PIECE_BYTES) {
                    ByteBuffer target = ByteBuffer.wrap(piece);
                    volume.read(file, at, target);
                }
                volume.close(file);
                volume.forget(inode, 1);
            }
            print(what, "restore in sequence", began);
            randomReads(what + ", after", volume, RANDOM_READS, 6);
        }
    }

    /** Reads 4 KiB at random places, one after the other. */
    private void randomReads(String what, Volume volume, int count, long seed) throws IOException {
        Random random = new Random(seed);
        OpenFile[] open = new OpenFile[files];
        long[] inodes = new long[files];
        for (int number = 0; number < files; number++) {
            inodes[number] = volume.lookup(Inode.ROOT, name(number)).inode();
            open[number] = volume.open(inodes[number], false);
        }
        long[] nanos = new long[count];
        byte[] bytes = new byte[4096];
        for (int i = 0; i < count; i++) {
            OpenFile file = open[random.nextInt(files)];
            long at = 4096L * random.nextInt(FILE_BYTES / 4096);
            long began = System.nanoTime();
            volume.read(file, at, ByteBuffer.wrap(bytes));
            nanos[i] = System.nanoTime() - began;
        }
        Arrays.sort(nanos);
        System.out.printf(
                "%-22s random 4 KiB: median %.3f ms, mean %.3f ms, 99 %% %.3f ms%n",
                what,
                nanos[count / 2] / 1e6,
                Arrays.stream(nanos).average().orElse(0) / 1e6,
                nanos[count / 100 * 99] / 1e6);
        for (int number = 0; number < files; number++) {
            volume.close(open[number]);
            volume.forget(inodes[number], 1);
        }
    }

    /** Prints a rate, with the processor time of this process since {@link #begin}: other work does not change that. */
    private void print(String what, String did, long began) {
        double seconds = (System.nanoTime() - began) / 1e9;
        double megabytes = files * (double) FILE_BYTES / 1e6;
        System.out.printf(
                "%-22s %s: %.0f MB/s (%.2f s), %.1f ms of a processor for each MB%n",
                what, did, megabytes / seconds, seconds, (processorNanos() - begunProcessorNanos) / 1e6 / megabytes);
    }

    private long begin() {
        begunProcessorNanos = processorNanos();
        return System.nanoTime();
    }

    private static long processorNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
