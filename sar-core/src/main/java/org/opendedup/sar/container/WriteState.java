package org.opendedup.sar.container;

import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.WriteFailedException;

/**
 * Whether the file of an open container can be written, which of its frames are lost if not, and whether the loss was
 * reported.
 *
 * <pre>{@code
 *             disk is full
 * WORKING ------------------> SHORT
 *  |   ^  <------------------   |
 *  |   |        retry           |
 *  |   | file rewritten         |
 *  |   +---------+              | disk fails
 *  | disk fails  |              v
 *  +---------> SUSPENDED <------+
 *                |
 *                | loss given up
 *                v
 *               LOST <--- any other failure, in any state
 * }</pre>
 *
 * <ul>
 *   <li>WORKING: frames are written as soon as they are compressed.
 *   <li>SHORT ({@link #isShort}): nothing is lost; frames wait for space, here or in another data location.
 *   <li>SUSPENDED ({@link #isSuspended}): frames that are not in the file wait for {@link OpenContainer#revive}.
 *   <li>LOST ({@link #isDropping}): frames that are not in the file are dropped, queued ones as soon as they are ready.
 *       The container remains LOST until the store is opened again.
 * </ul>
 *
 * <p>SUSPENDED and LOST are failures ({@link #isFailed}), which every writer gets. A failure may put frames of the file
 * in doubt: then only those that were durable before are {@linkplain #certainFrames certain}, even if a later force
 * succeeds. All other chunks count as lost until the file is rewritten. The container's {@code force} reports the loss
 * until the caller, who has seen the report, gives these chunks up.
 *
 * <p>The in-flight budget counts the containers that are SHORT or SUSPENDED; this class reports each change to it.
 *
 * <p>Has no lock of its own: {@link OpenFrames} calls each method with its lock held.
 */
final class WriteState {
    private final String container;
    private final InFlightBudget budget;

    /** The first failure, if SUSPENDED or LOST. */
    private @Nullable IOException failure;
    /** Whether the disk caused the failure, and nothing was dropped since: SUSPENDED. */
    private boolean suspended;
    /** If SHORT, why the disk did not take the head of the queue, or the directory, at the last attempt. */
    private @Nullable NoSpaceException shortage;
    /**
     * Copies of frames whose force failed, by frame number: the system may drop them from the file's cached pages. Only
     * if SUSPENDED; counted in the budget.
     */
    private Map<Integer, byte[]> kept = Map.of();

    /** Number of frames, from the first on, that are durable, file name included. */
    private int durableFrames;
    /** Whether frames from {@link #durableFrames} on may not be on the disk. */
    private boolean inDoubt;
    /** Whether the loss of chunks was reported to the caller. */
    private boolean lossReported;
    /** Whether the caller has given the lost chunks up since. */
    private boolean lossAbandoned;

    /** @param container the container's name in messages */
    WriteState(String container, InFlightBudget budget) {
        this.container = container;
        this.budget = budget;
    }

    /** Returns whether frames can be written: WORKING. */
    boolean isWorking() {
        return failure == null && shortage == null;
    }

    boolean isShort() {
        return shortage != null;
    }

    boolean isFailed() {
        return failure != null;
    }

    /** Returns the first failure, or null if the container did not fail. */
    @Nullable
    IOException failure() {
        return failure;
    }

    boolean isSuspended() {
        return suspended;
    }

    /** Returns whether frames that are not in the file are dropped: LOST. */
    boolean isDropping() {
        return failure != null && !suspended;
    }

    void throwIfShort() throws NoSpaceException {
        if (shortage != null) {
            throw Failures.again(container + " waits for space", shortage);
        }
    }

    void throwIfFailed() throws IOException {
        if (failure != null) {
            throw Failures.again(container + " could not be written", failure);
        }
    }

    /** Throws to a reader of frames that are not in the file if these were dropped. */
    void throwIfDropping() throws IOException {
        if (failure != null && !suspended) {
            throw Failures.again(container + " could not be written", failure);
        }
    }

    /** SHORT from WORKING. Does nothing if the container failed: then nothing waits for space. */
    boolean beginShortage(NoSpaceException cause) {
        if (failure != null) {
            return false;
        }
        endShortage();
        shortage = cause;
        budget.beginShortage(cause);
        return true;
    }

    /**
     * WORKING from SHORT. Does nothing in another state, so that the budget counts this container once or not at all.
     */
    void endShortage() {
        if (shortage != null) {
            shortage = null;
            budget.endShortage();
        }
    }

    /** SUSPENDED from WORKING or SHORT, because the disk failed. Returns false if the container had failed before. */
    boolean suspend(IOException cause) {
        if (failure != null) {
            return false;
        }
        endShortage();
        WriteFailedException failed = new WriteFailedException(String.valueOf(cause.getMessage()), cause);
        failure = failed;
        suspended = true;
        budget.beginFailure(failed);
        return true;
    }

    /**
     * LOST from any state. The caller then drops what is not certain.
     *
     * @param cause the failure, unless there was one before
     */
    void lose(IOException cause) {
        if (failure == null) {
            failure = cause;
        }
        dropSuspended();
    }

    /** LOST from SUSPENDED. Nothing waits for the disk any more. */
    void dropSuspended() {
        endShortage();
        endSuspension();
    }

    /** WORKING, since a rewritten file has all frames that the old one had, and all of them are durable. */
    void revived(int frames) {
        failure = null;
        endSuspension();
        inDoubt = false;
        durableFrames = frames;
        lossReported = false;
        lossAbandoned = false;
    }

    /** Ends the chance to rewrite the file, if there is one, and frees the kept frames. */
    private void endSuspension() {
        if (suspended) {
            suspended = false;
            budget.endFailure();
            kept.values().forEach(bytes -> budget.release(bytes.length));
            kept = Map.of();
        }
    }

    Map<Integer, byte[]> kept() {
        return kept;
    }

    /** Keeps copies of frames until the file is rewritten. Returns false, and keeps none, if that is impossible now. */
    boolean keep(Map<Integer, byte[]> copies) {
        if (!suspended || !kept.isEmpty()) {
            return false;
        }
        kept = copies;
        return true;
    }

    /** Returns how many frames, from the first on, can be relied on, if the file has {@code written} frames. */
    int certainFrames(int written) {
        return inDoubt ? Math.min(durableFrames, written) : written;
    }

    int durableFrames() {
        return durableFrames;
    }

    /** Notes that the first {@code frames} frames, of those that are certain, are durable. */
    void noteDurable(int frames) {
        durableFrames = Math.max(durableFrames, frames);
    }

    /** Marks the frames that are not durable yet as doubtful. */
    void beginDoubt(int written) {
        if (certainFrames(written) > durableFrames) {
            // More chunks are lost than the caller may know of.
            lossReported = false;
            lossAbandoned = false;
        }
        inDoubt = true;
    }

    /** Returns the failure, and notes that it was reported as a loss of chunks; null if there is no failure. */
    @Nullable
    IOException reportLoss() {
        lossReported |= failure != null;
        return failure;
    }

    /** Gives up the lost chunks if their loss was reported; returns {@link #isLossAbandoned}. */
    boolean abandonLoss() {
        lossAbandoned |= lossReported;
        return lossAbandoned;
    }

    /** Returns whether the caller has given up all chunks that are lost. */
    boolean isLossAbandoned() {
        return lossAbandoned;
    }
}
