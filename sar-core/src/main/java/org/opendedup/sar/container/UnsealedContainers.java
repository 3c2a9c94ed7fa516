package org.opendedup.sar.container;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.io.Directory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The containers that the container table does not call sealed: being written, failed, or not committed. Makes them
 * durable, and moves those that failed to other packs. The methods are those of {@link ContainerStore} with the same
 * names. Safe for use by many threads.
 */
final class UnsealedContainers {
    private static final Logger log = LoggerFactory.getLogger(UnsealedContainers.class);

    private final Directory directory;
    private final Packs packs;
    private final SealedContainers sealed;
    private final SealNotifier notifier;
    private final Map<Long, OpenContainer> containers = new ConcurrentHashMap<>();
    /** Held while containers are forced, or moved from a full place. Before the locks of packs. */
    private final Object moving = new Object();

    /** @param sealed gets the frame table of each container that is sealed */
    UnsealedContainers(Directory directory, Packs packs, SealedContainers sealed, SealNotifier notifier) {
        this.directory = directory;
        this.packs = packs;
        this.sealed = sealed;
        this.notifier = notifier;
    }

    void add(OpenContainer container) {
        containers.put(container.container(), container);
    }

    /** Returns the frames of a container; null if it is sealed. */
    @Nullable
    OpenFrames frames(long container) {
        OpenContainer unsealed = containers.get(container);
        return unsealed == null ? null : unsealed.frames();
    }

    /** Returns where the frames of a container are that are in its file; null if it is sealed. */
    @Nullable
    LocatedTable located(long container) {
        OpenContainer unsealed = containers.get(container);
        return unsealed == null ? null : unsealed.located();
    }

    boolean contains(long container) {
        return containers.containsKey(container);
    }

    /** Returns the entries that the container table lacks, after making everything durable that was appended. */
    Map<Long, StoredContainer> force() throws IOException {
        synchronized (moving) {
            return forceUnmoved();
        }
    }

    /** As above, while no other thread moves a container to a pack that this does not force. */
    private Map<Long, StoredContainer> forceUnmoved() throws IOException {
        List<OpenContainer> forced = new ArrayList<>();
        for (OpenContainer container : containers.values()) {
            if (!container.isQuiet()) {
                forced.add(container);
            }
        }
        forced.forEach(OpenContainer::flush);
        packs(forced).forEach(Pack::retry);
        forced.forEach(container -> container.frames().awaitWritten());
        if (moveShort()) {
            forced.forEach(container -> container.frames().awaitWritten());
        }
        Set<Pack> written = packs(forced);
        written.forEach(Pack::force);
        try {
            directory.sync();
            for (Pack pack : written) {
                pack.checkName();
            }
        } catch (IOException e) {
            written.forEach(pack -> pack.nameIsInDoubt(e));
            throwIfLost(forced); // Also if the disk is full: a name in doubt does not wait for space.
            throw e;
        }
        written.forEach(Pack::nameIsDurable);
        forced.forEach(OpenContainer::nameIsDurable);
        throwIfLost(forced);
        for (OpenContainer container : forced) {
            container.frames().throwIfShort();
        }
        Map<Long, StoredContainer> entries = new HashMap<>();
        for (OpenContainer container : forced) {
            StoredContainer entry = container.unrecorded();
            if (entry != null) {
                entries.put(container.container(), entry);
            }
        }
        return entries;
    }

    private static Set<Pack> packs(List<OpenContainer> of) {
        Set<Pack> packs = new LinkedHashSet<>();
        of.forEach(container -> packs.add(container.pack()));
        return packs;
    }

    /**
     * Has the containers that wait for space go on in other packs, if the place of theirs is full and another one is
     * not. Waits for a {@link #force} of another thread.
     *
     * @return whether a container went on
     * @throws CorruptionException if a frame of a file cannot be read back: its chunks are lost
     * @throws IOException if a disk fails
     */
    boolean moveShort() throws IOException {
        synchronized (moving) {
            boolean moved = false;
            for (OpenContainer container : containers.values()) {
                moved |= container.frames().isShort() && !packs.takesMore(container.pack()) && move(container);
            }
            return moved;
        }
    }

    private boolean move(OpenContainer container) throws IOException {
        Pack full = container.pack();
        Pack fresh;
        try {
            fresh = packs.forRewriting();
        } catch (NoSpaceException e) {
            log.debug("{} waits where it is: no other place has space", container, e);
            return false;
        }
        boolean moved = false;
        try {
            moved = container.move(fresh);
        } catch (NoSpaceException e) {
            log.debug("{} waits where it is: the other place has no space either", container, e);
        } finally {
            if (moved) {
                log.info("{} goes on in another place, because its own one is full", container);
                full.retire();
                fresh.retire();
            } else {
                packs.delete(fresh);
            }
        }
        return moved;
    }

    /**
     * Throws if chunks are lost, or the disk failed. Never throws a {@link NoSpaceException}: that one means that
     * nothing is lost.
     */
    private static void throwIfLost(Collection<OpenContainer> forced) throws IOException {
        IOException failure = null;
        for (OpenContainer container : forced) {
            IOException loss = container.frames().reportLoss();
            if (loss != null && failure == null) {
                failure = new IOException(
                        "chunks of " + container + " are lost unless it is written again: " + loss.getMessage(), loss);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    void committed(Map<Long, StoredContainer> entries) {
        // In ascending order, so that the tables of the newest containers stay in the cache.
        new TreeMap<>(entries).forEach((id, entry) -> {
            OpenContainer container = containers.get(id);
            if (container != null) {
                container.noteRecorded(entry);
                if (entry.state() == StoredContainer.State.SEALED) {
                    seal(container, entry);
                }
            }
        });
        for (OpenContainer container : containers.values()) {
            if (container.isEmpty()) {
                remove(container);
            }
        }
    }

    private void seal(OpenContainer container, StoredContainer entry) {
        FrameTable table = container.frames().table();
        sealed.cache(container.container(), new LocatedTable(entry.pack(), entry.offset(), table));
        remove(container);
        notifier.sealed(container.container());
    }

    private void remove(OpenContainer container) {
        containers.remove(container.container());
        container.pack().remove(container);
    }

    List<OpenContainer> failed() {
        return containers.values().stream()
                .filter(container -> container.frames().isFailed())
                .toList();
    }

    void revive(List<OpenContainer> failed) throws IOException {
        for (OpenContainer container : failed) {
            revive(container);
        }
    }

    private void revive(OpenContainer container) throws IOException {
        Pack fresh = packs.forRewriting();
        boolean moved = false;
        try {
            moved = container.revive(fresh);
        } finally {
            if (moved) {
                log.info("{} was written again after its disk had failed", container);
                fresh.retire();
            } else {
                packs.delete(fresh);
            }
        }
    }

    void abandonLost() {
        containers.values().forEach(OpenContainer::abandonLost);
    }

    /** Returns the number of containers that the table does not have. */
    long unrecorded() {
        return containers.values().stream()
                .filter(container -> !container.isRecorded())
                .count();
    }

    /** Returns the bytes of containers that the table does not count. */
    long unrecordedBytes() {
        return containers.values().stream()
                .mapToLong(container -> container.fileBytes() - container.recordedBytes())
                .sum();
    }

    /** Closes the containers; what was not forced may be lost. */
    void close() {
        containers.values().forEach(OpenContainer::close);
    }
}
