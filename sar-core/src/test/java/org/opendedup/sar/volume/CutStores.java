package org.opendedup.sar.volume;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.raw.CrashRawFolder;
import org.opendedup.sar.raw.RawFolder;
import org.opendedup.sar.volume.HookedStores.Call;

/**
 * The stores of a volume in memory. From {@link #begin} on they count: the power is cut before one of their changes or
 * in the middle of it, or one of their calls fails.
 */
final class CutStores {
    static final int NEVER = Integer.MAX_VALUE;

    private static final Set<String> NEED_SPACE = Set.of("create", "append", "release", "commit");

    /** Whether the stores keep their promises while they count; each control breaks one. */
    enum Promise {
        KEPT,
        /** Bytes and names are not made durable. */
        FORCE_DOES_NOTHING,
        /** What relies on a commit is done before it is durable, such as giving back old places. */
        COMMIT_IS_NOT_DURABLE
    }

    /** How a call fails. */
    enum Fault {
        /** EIO: of an append after half of the bytes, of a force and a release with any part lost. */
        EIO,
        /** ENOSPC of calls that need space. */
        ENOSPC
    }

    final CrashDirectory data;
    /** A further data location, which the volume may use or not. */
    final CrashDirectory further;

    final CrashKeyValueStore metadata;
    final CrashRawFolder raw;
    /** The changes that were made while it counted, and the one at which the power was cut. */
    final List<String> changes = Collections.synchronizedList(new ArrayList<>());

    private final HookedStores hooked = new HookedStores();
    private Predicate<Call> omitted = call -> false;
    private Promise promise = Promise.KEPT;
    private int cutAt = NEVER;
    private boolean inTheMiddle;
    private long crashSeed;
    private int failAt = NEVER;
    private Fault fault = Fault.EIO;
    private int calls;
    private @Nullable Call failed;
    private boolean counts;
    private boolean off;
    /** What a cut in the middle of a release left. */
    private @Nullable CrashDirectory dataLeft;

    CutStores(CrashDirectory data, CrashKeyValueStore metadata) {
        this(data, metadata, new CrashRawFolder(0));
    }

    CutStores(CrashDirectory data, CrashKeyValueStore metadata, CrashRawFolder raw) {
        this(data, metadata, raw, new CrashDirectory(0));
    }

    CutStores(CrashDirectory data, CrashKeyValueStore metadata, CrashRawFolder raw, CrashDirectory further) {
        this.data = data;
        this.further = further;
        this.metadata = metadata;
        this.raw = raw;
        hooked.hook = this::around;
    }

    Directory data() {
        return hooked.hooked(data);
    }

    Directory further() {
        return hooked.hooked(further);
    }

    KeyValueStore metadata() {
        return hooked.hooked(metadata);
    }

    RawFolder raw() {
        return hooked.hooked(raw);
    }

    void breaks(Promise broken) {
        promise = broken;
    }

    /** Sees each call while it counts. A call for which it returns true is not made. */
    void omit(Predicate<Call> calls) {
        omitted = calls;
    }

    /**
     * Cuts the power at a change.
     *
     * @param change its number, from 0
     * @param middle whether the change is under way then, and not only about to be made
     * @param seed chooses what is left of what was not made durable
     */
    void cutAt(int change, boolean middle, long seed) {
        cutAt = change;
        inTheMiddle = middle;
        crashSeed = seed;
    }

    /** Lets a call fail once. */
    void failAt(int call, Fault how) {
        failAt = call;
        fault = how;
    }

    /** Counts from now on. */
    synchronized void begin() {
        counts = true;
        metadata.setCommitIsNotDurable(promise == Promise.COMMIT_IS_NOT_DURABLE);
    }

    /** Counts no more. */
    synchronized void end() {
        counts = false;
    }

    synchronized boolean isOff() {
        return off;
    }

    /** The call that failed; null if there were fewer. */
    synchronized @Nullable Call failed() {
        return failed;
    }

    /** Number of calls that could have failed. */
    synchronized int calls() {
        return calls;
    }

    /** Returns what a power cut leaves; it is now if that did not happen yet. The same state each time. */
    synchronized CutStores crash(long seed) throws IOException {
        off = true;
        CrashDirectory left = dataLeft == null ? data.crash(seed) : dataLeft;
        return new CutStores(left, metadata.crash(seed), raw.crash(seed), further.crash(seed));
    }

    private synchronized @Nullable Object around(Call call) throws IOException {
        if (off) {
            throw new IOException("the power is off");
        }
        if (!counts) {
            return call.proceed();
        }
        if (omitted.test(call)) {
            return null;
        }
        if ((fault == Fault.EIO || NEED_SPACE.contains(call.what())) && calls++ == failAt) {
            failed = call;
            return fault == Fault.EIO ? fail(call) : refuse(call);
        }
        if (!call.isChange()) {
            return call.proceed();
        }
        changes.add(call.toString());
        if (changes.size() > cutAt) {
            off = true;
            if (inTheMiddle) {
                call.proceedInPart(data, metadata, () -> dataLeft = data.crash(crashSeed));
            }
            throw new IOException("the power is cut");
        }
        boolean isForce = call.what().equals("force") || call.what().equals("sync");
        return promise == Promise.FORCE_DOES_NOTHING && isForce ? null : call.proceed();
    }

    /** Fails as the disk does; what the models of the stores can do is left to them. */
    private @Nullable Object fail(Call call) throws IOException {
        switch (call.what()) {
            case "append" -> {
                ByteBuffer bytes = (ByteBuffer) call.arguments()[0];
                ((Output) call.target()).append(bytes.slice(bytes.position(), bytes.remaining() / 2));
            }
            case "force" -> data.failForce(1);
            case "release" -> {
                if (data.exists(call.file())) {
                    data.failRelease(1);
                    return call.proceed();
                }
            }
            case "commit" -> metadata.failNextCommits(1);
            default -> {}
        }
        if (call.what().equals("force") || call.what().equals("commit")) {
            return call.proceed();
        }
        throw new IOException("Input/output error");
    }

    private @Nullable Object refuse(Call call) throws IOException {
        if (call.what().equals("commit")) {
            metadata.failNextCommits(1);
            try {
                call.proceed();
            } catch (IOException e) {
                throw new NoSpaceException("No space left on device");
            }
        }
        throw new NoSpaceException("No space left on device");
    }
}
