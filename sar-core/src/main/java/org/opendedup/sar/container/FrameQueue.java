package org.opendedup.sar.container;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.RawFrame;

/**
 * The chunks of an open container that are not in its file, in the order of their slots: first the queued frames, which
 * wait to be compressed and written, then the frame being filled.
 *
 * <pre>
 * chunk --add--> frame being filled --cut--> queued frame --removeHead--> written by the caller, or dropped
 *                        |
 *                        +--dropFilling--> dropped
 * </pre>
 *
 * <p>The slots of the queue are consecutive and end at {@link #nextSlot}, unless the frame being filled was dropped.
 * Each queued frame is counted in the budget of the {@link FrameEncoder}; the frame being filled is not.
 *
 * <p>Has no lock of its own: {@link OpenFrames} calls each method with its lock held, and that lock also guards the
 * fields of the queued {@link PendingFrame}s.
 */
final class FrameQueue {
    private final FrameEncoder encoder;
    private final ArrayDeque<PendingFrame> queue = new ArrayDeque<>();
    /** Chunk bytes of the queued frames. */
    private long queuedBytes;

    private @Nullable RawFrame filling;
    private int nextSlot;

    FrameQueue(FrameEncoder encoder) {
        this.encoder = encoder;
    }

    /** Returns the number of slots that were assigned, including those of frames that were written or dropped. */
    int nextSlot() {
        return nextSlot;
    }

    /** Returns whether a chunk would make the frame being filled longer than a frame should be. */
    boolean mustCutBefore(int chunkBytes) {
        return filling != null && filling.bytes() + chunkBytes > encoder.frameBytes();
    }

    /** Copies a chunk into the frame being filled, begins one if there is none, and returns the chunk's slot. */
    int add(byte[] data, int offset, int length, byte[] fingerprints, int fingerprintOffset) {
        RawFrame frame = filling;
        if (frame == null) {
            frame = encoder.take(nextSlot);
            filling = frame;
        }
        frame.add(data, offset, length, fingerprints, fingerprintOffset);
        return nextSlot++;
    }

    /** Returns whether the frame being filled has as many chunk bytes as a frame should have. */
    boolean mustCut() {
        return filling != null && filling.bytes() >= encoder.frameBytes();
    }

    /**
     * Ends the frame being filled and queues it. Returns it, for the caller to have it compressed; null if no frame is
     * being filled.
     */
    @Nullable
    PendingFrame cut() {
        RawFrame frame = filling;
        if (frame == null) {
            return null;
        }
        filling = null;
        PendingFrame pending = new PendingFrame(frame, encoder.admit(frame));
        queue.add(pending);
        queuedBytes += frame.bytes();
        return pending;
    }

    /** Drops the frame being filled, if any: its chunks are lost. */
    void dropFilling() {
        if (filling != null) {
            encoder.giveBack(filling);
            filling = null;
        }
    }

    /** Returns the frame to be written next, or null if none is queued. */
    @Nullable
    PendingFrame head() {
        return queue.peek();
    }

    /**
     * Removes the head, which was written or is dropped. The caller gives its buffers back, once it has released the
     * lock.
     */
    PendingFrame removeHead() {
        PendingFrame head = queue.remove();
        queuedBytes -= head.raw.bytes();
        return head;
    }

    /** Returns the number of queued frames, without the one being filled. */
    int size() {
        return queue.size();
    }

    /** Returns whether no frame is being filled. */
    boolean isCut() {
        return filling == null;
    }

    /** Returns the chunk bytes of all frames, including the one being filled. */
    long bytes() {
        return queuedBytes + (filling == null ? 0 : filling.bytes());
    }

    /**
     * Returns the place in the queue, from 0, of the frame that holds a slot; {@link #size} if that is the frame being
     * filled. The slot is in the queue.
     */
    int placeOf(int slot) {
        int place = 0;
        for (PendingFrame pending : queue) {
            if (slot < pending.raw.firstSlot() + pending.raw.count()) {
                return place;
            }
            place++;
        }
        return place;
    }

    /** Returns a copy of the frame at a place in the queue; null if the queue is shorter. */
    @Nullable
    Frame copy(int place, long container) {
        int index = place;
        for (PendingFrame pending : queue) {
            if (index-- == 0) {
                return pending.raw.toFrame(container);
            }
        }
        return null;
    }
}
