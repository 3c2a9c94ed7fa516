package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.fuse.AccessLists;
import org.opendedup.sar.sdfs.fuse.FuseFileSystem;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.InitFlag;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.Opcode;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;

/**
 * The request that a thread serves, the reply to it, and what is needed to serve it.
 *
 * @param cache receives invalidations for the kernel
 * @param request the current request; its buffer holds the next one after the reply
 * @param backings the open files that the kernel reads and writes itself
 * @param unenforced hides permissions of files with access lists; null if the kernel checks the lists
 * @param inTurn has another thread serve the current request when its user has a turn
 */
record Exchange(
        FuseFileSystem operations,
        KernelCache cache,
        Agreement agreement,
        Request request,
        Reply reply,
        PassedThroughFiles backings,
        @Nullable AccessLists unenforced,
        InTurn inTurn) {
    /** Returned by a request instead of an error number: another thread will answer. */
    static final int ANSWERED_LATER = -1;

    /** Bytes of a range that a worker searches or copies itself: at the default page size, 256 pages of a recipe. */
    static final long SHORT_BYTES = 64 << 20;

    /**
     * Bytes that a worker zeroes, or cuts off a file, itself. A recipe can refer to single bytes, and removing these
     * references takes more than a second then; any user can make such files, by copying ranges.
     */
    static final long SHORT_REMOVAL_BYTES = 4 << 20;

    /** Bytes from which on what is cut off a file may take minutes; less of them usually take a tenth of a second. */
    private static final long LONG_CUT_BYTES = 256 << 20;

    /** Has another thread serve the current request. */
    @FunctionalInterface
    interface InTurn {
        /**
         * @param takesMinutes whether it may, so that others do not wait for it
         * @return false if this is that thread
         */
        boolean serves(boolean takesMinutes);
    }

    /**
     * Returns whether another thread serves the current request, because it waits until the file is truncated: the
     * kernel sends it meanwhile if the truncation is a part of an open(2) and it keeps no writes. Of those with many
     * bytes there are few: it sends one write(2) of a file at a time, and few requests for mapped files.
     */
    boolean waitsInTurn() {
        return operations.isBeingTruncated(request.node()) && inTurn.serves(true);
    }

    /**
     * Returns whether another thread serves the current request, because the file gets so much shorter that it takes
     * long, or is being truncated.
     */
    boolean isCutInTurn(long newSize) throws IOException {
        if (waitsInTurn()) {
            return true;
        }
        long bytes = operations.attributes(request.node()).size() - newSize;
        return bytes > SHORT_REMOVAL_BYTES && inTurn.serves(bytes > LONG_CUT_BYTES);
    }

    /** Takes the umask and returns the caller with it. Without DONT_MASK, the kernel has already applied the umask. */
    Owner takeCaller() throws MalformedRequestException {
        int umask = request.takeInt();
        return request.caller(agreement.has(InitFlag.DONT_MASK) ? umask : 0);
    }

    /** Returns the attributes to show to the kernel. */
    Attributes shown(Attributes attributes) throws IOException {
        return unenforced == null ? attributes : unenforced.shown(attributes);
    }

    /** Returns a name of the current request for the log. */
    String describe() {
        byte[] name = request.firstName();
        return name == null
                ? describe(request.opcode(), request.node())
                : Opcode.name(request.opcode()) + " " + operations.nameOf(request.node(), name);
    }

    /** Returns a name for the log of a request that need not be the current one. */
    String describe(int opcode, long node) {
        return Opcode.name(opcode) + " " + operations.nameOf(node);
    }
}
