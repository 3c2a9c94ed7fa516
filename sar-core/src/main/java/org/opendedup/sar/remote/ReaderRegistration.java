package org.opendedup.sar.remote;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.objects.ObjectNames;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says in the store that this process reads the volume, so that its owner deletes nothing that may be needed here. To
 * be made before the metadata are read: then the owner has seen it when it next asks, and what it deleted before is not
 * in these metadata. Renewed every five minutes; see {@link Readers}. Safe for use by many threads.
 *
 * <p>A renewal puts the next object, and then asks for the one before. If that is gone, the owner has taken this reader
 * for dead, and may have deleted packs: the registration is lost, for ever. Else the one before stays until the next
 * renewal. A list may lack an object that is made or deleted while the list is made: if both happened in one renewal,
 * the owner would see no object of a reader that lives. So the end of the copying deletes nothing, and what it replaces
 * stays for a renewal more: the next one may be soon.
 */
public final class ReaderRegistration implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(ReaderRegistration.class);
    private static final long RENEWAL_S = 300;
    /** After a renewal that failed. */
    private static final long RETRY_S = 10;

    /** Most characters of the name of the machine; the name of a part of an object's name has a bound. */
    private static final int MOST_OF_HOST = 60;

    private final ObjectStore store;
    /** Guarded by this. */
    private ReaderNames.Parts current;
    /** Those that the next renewal deletes. Guarded by this. */
    private List<ReaderNames.Parts> former = List.of();
    /** Those that were replaced since the last renewal. Guarded by this. */
    private List<ReaderNames.Parts> replaced = List.of();

    private volatile boolean isLost;
    private @Nullable ScheduledThreadPoolExecutor timer;

    private ReaderRegistration(ObjectStore store, ReaderNames.Parts first) {
        this.store = store;
        current = first;
    }

    /** Registers this process, which is going to copy the metadata. */
    public static ReaderRegistration register(ObjectStore store) throws IOException {
        String host = host();
        byte[] random = new byte[8];
        new SecureRandom().nextBytes(random);
        String process = host.substring(0, Math.min(MOST_OF_HOST, host.length())) + "-"
                + ProcessHandle.current().pid();
        String reader = "of-" + process.replaceAll("[^A-Za-z0-9-]", "-") + "-"
                + HexFormat.of().formatHex(random);
        return register(store, new ReaderNames.Parts(reader, 0, true));
    }

    /** Returns the name of this machine, for those who look at the store. */
    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown";
        }
    }

    static ReaderRegistration register(ObjectStore store, ReaderNames.Parts first) throws IOException {
        put(store, first);
        return new ReaderRegistration(store, first);
    }

    private static void put(ObjectStore store, ReaderNames.Parts parts) throws IOException {
        try {
            store.put(ObjectNames.checked(ReaderNames.of(parts)), ObjectSource.of(new byte[] {1}));
        } catch (FileAlreadyExistsException e) {
            // By an earlier try: nobody else has this name.
            log.debug("the registration is there already", e);
        }
    }

    /** Begins to renew it in the background. */
    public void start(String volume) {
        ScheduledThreadPoolExecutor started =
                new ScheduledThreadPoolExecutor(1, Threads.named(volume + "-registration"));
        started.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        timer = started;
        started.schedule(this::renewLater, RENEWAL_S, TimeUnit.SECONDS);
    }

    /** Renews it; returns in how many seconds to do so again. Never fails: the next try may succeed. */
    long renewLogging() {
        try {
            renew();
            return RENEWAL_S;
        } catch (IOException | RuntimeException | Error e) {
            log.warn("{} cannot be told that this mount still reads the volume: {}", store, e.toString());
            return RETRY_S;
        }
    }

    private void renewLater() {
        long next = renewLogging();
        ScheduledThreadPoolExecutor started = timer;
        if (started != null && !started.isShutdown() && !isLost) {
            started.schedule(this::renewLater, next, TimeUnit.SECONDS);
        }
    }

    /** Says that the metadata are copied: the owner may remove checkpoints again. */
    public synchronized void metadataAreCopied() throws IOException {
        replace(false);
    }

    /** Renews the registration, or finds it lost. */
    synchronized void renew() throws IOException {
        if (replace(current.isCopying())) {
            List<ReaderNames.Parts> due = former;
            former = replaced;
            replaced = List.of();
            delete(due);
        }
    }

    /** Puts the next object; returns false if the registration is lost. The caller holds the lock. */
    private boolean replace(boolean isCopying) throws IOException {
        if (isLost) {
            return false;
        }
        ReaderNames.Parts next = new ReaderNames.Parts(current.reader(), current.number() + 1, isCopying);
        put(store, next);
        if (!isThere()) {
            store.delete(List.of(ReaderNames.of(next)));
            return false;
        }
        replaced = Stream.concat(replaced.stream(), Stream.of(current)).toList();
        current = next;
        return true;
    }

    /** A failure does not count: the next renewal would be soon, and delete what a list that is being made needs. */
    private void delete(List<ReaderNames.Parts> due) {
        try {
            if (!due.isEmpty()) {
                store.delete(due.stream().map(ReaderNames::of).toList());
            }
        } catch (IOException e) {
            log.debug("{} stay in {} until the end of this registration", due, store, e);
        }
    }

    /** Returns whether the registration is there. */
    private boolean isThere() throws IOException {
        try {
            var unused = store.status(ReaderNames.of(current));
            return true;
        } catch (NoSuchFileException e) {
            isLost = true;
            log.error(
                    "the owner of the volume in {} does not keep any more what this mount reads: it did not hear from"
                            + " here for {} minutes. What it has deleted since cannot be read; mount again",
                    store,
                    Readers.LIFE.toMinutes());
            return false;
        }
    }

    /**
     * Returns whether the owner took this reader for dead, so that packs may be missing. Asks the store.
     *
     * @throws IOException if the store does not say
     */
    synchronized boolean isFoundLost() throws IOException {
        return isLost || !isThere();
    }

    /** Returns whether it was found that the owner took this reader for dead. */
    boolean isLost() {
        return isLost;
    }

    /** Ends the registration: the owner may delete what is read here. */
    @Override
    public void close() throws IOException {
        Closing closing = new Closing();
        ScheduledThreadPoolExecutor started = timer;
        if (started != null) {
            closing.run(() -> Threads.end(started));
        }
        closing.run(this::delete);
        closing.finish();
    }

    private synchronized void delete() throws IOException {
        store.delete(store.listAll(ReaderNames.folder(current.reader()), "").stream()
                .map(ObjectPage.Entry::name)
                .toList());
    }

    @Override
    public String toString() {
        return current.reader();
    }
}
