package org.opendedup.sar.volume.store;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ObjectStores;
import org.opendedup.sar.objects.lease.LeaseKeeper;
import org.opendedup.sar.objects.lease.LeaseObject;
import org.opendedup.sar.objects.lease.LeaseTerms;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lease of a volume in an object store, as a process has it. Which lease it has is noted in the local folder, which
 * is locked as long as the process lives. So the next one there knows that it has ended, and need not wait. Whoever has
 * lost the lease keeps the lock: another process would take the packs that it is writing for whole ones.
 */
final class VolumeLease {
    private static final Logger log = LoggerFactory.getLogger(VolumeLease.class);

    /** Name of the file with the owner of the lease, in the data location. */
    private static final String OWNER = "lease";

    private static final String LOCK = "lease.lock";

    /** Made at random when the kernel starts. Containers of one machine have the same. */
    private static final Path KERNEL = Path.of("/proc/sys/kernel/random/boot_id");

    /**
     * With connections of its own, for which no upload competes, and asked once for each try: a renewal must know soon
     * that there is no answer.
     */
    private final ObjectStore store;

    private final LeaseKeeper keeper;
    private final LockFile lock;

    private VolumeLease(ObjectStore store, LeaseKeeper keeper, LockFile lock) {
        this.store = store;
        this.keeper = keeper;
        this.lock = lock;
    }

    /**
     * @throws org.opendedup.sar.objects.lease.LeaseHeldException if another process has it
     * @throws IOException also if another process of this machine uses the local folder
     */
    static VolumeLease acquire(StoreAccess access) throws IOException {
        Path folder = access.locations().data();
        PrivateFiles.createFolders(folder);
        LockFile lock = LockFile.tryAcquire(folder.resolve(LOCK))
                .orElseThrow(() -> new IOException(folder + " is in use by another process of this machine; a process"
                        + " that has lost the lease of the volume has its folders until it ends"));
        ObjectStore store = null;
        LeaseKeeper keeper = null;
        try {
            store = ObjectStores.open(access.settings().store());
            UUID owner = UUID.randomUUID();
            keeper = LeaseKeeper.acquire(
                    new LeaseObject(access.settings().store(), store),
                    LeaseTerms.DEFAULT,
                    owner,
                    deadOwner(folder),
                    access.name(),
                    held -> log.info(
                            "the volume {} is held by {} since {}; waiting up to {} s to see whether it still runs",
                            access.name(),
                            held.ownerText(),
                            held.since(),
                            LeaseTerms.DEFAULT.term().toSeconds()));
            AtomicFile.write(folder.resolve(OWNER), (owner + "\n" + place(folder) + "\n").getBytes(US_ASCII));
            return new VolumeLease(store, keeper, lock);
        } catch (IOException | RuntimeException e) {
            Closing closing = new Closing();
            if (keeper != null) {
                closing.run(keeper::close);
            }
            if (store != null) {
                closing.run(store::close);
            }
            closing.run(lock::close);
            closing.suppressedBy(e);
            throw e;
        }
    }

    /**
     * Returns the owner that used this folder last, which has ended because the lock is free; null if that is not
     * known. A copy of the folder, and a disk that came from another machine, name an owner that may still run.
     */
    private static @Nullable UUID deadOwner(Path folder) throws IOException {
        try {
            List<String> lines = Files.readAllLines(folder.resolve(OWNER), US_ASCII);
            boolean isOfThisPlace = lines.size() == 2 && lines.get(1).equals(place(folder));
            return isOfThisPlace ? UUID.fromString(lines.get(0)) : null;
        } catch (NoSuchFileException | CharacterCodingException | IllegalArgumentException e) {
            log.debug("{} does not say who had the lease last", folder, e);
            return null;
        }
    }

    /** Names the running kernel and the lock, which are what says that an owner has ended. */
    private static String place(Path folder) throws IOException {
        Object file = Files.readAttributes(folder.resolve(LOCK), BasicFileAttributes.class)
                .fileKey();
        return Files.readString(KERNEL, US_ASCII).strip() + " " + file;
    }

    LeaseKeeper keeper() {
        return keeper;
    }

    /** Gives the lease back. */
    void release() throws IOException {
        end(keeper::close);
    }

    /** Renews the lease no more: another machine gets it after its term, this one at once. */
    void leave() throws IOException {
        end(keeper::end);
    }

    private void end(Closing.Step step) throws IOException {
        Closing closing = new Closing();
        closing.run(step);
        closing.run(store::close);
        closing.run(lock::close);
        closing.finish();
    }
}
