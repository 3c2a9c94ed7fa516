package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.sdfs.fuse.FileMode;
import org.opendedup.sar.sdfs.fuse.FuseFileSystem;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.SetAttribute;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;

/**
 * Removes setuid, setgid and capabilities from files that change. The kernel leaves this to the service
 * ({@code FUSE_HANDLE_KILLPRIV_V2}). It requests the removal by flags, or, for requests without such a flag, by
 * requests that change nothing else. The rules are those of Linux's own file systems: if the group may not execute a
 * file, the file keeps setgid if the caller is in its group.
 *
 * @param request the request that is being served
 */
record Privileges(FuseFileSystem operations, KernelCache cache, Groups groups, Request request) {
    private static final int ROOT = 0;

    /** The supplementary groups of callers. */
    @FunctionalInterface
    interface Groups {
        /** Returns whether a group is among those of a thread that waits for its request. */
        boolean contain(int thread, int group);
    }

    /**
     * Removes the privileges of a file because a caller without CAP_FSETID changes its bytes. Invalidates the kernel's
     * attributes before the reply, because the reply carries none.
     */
    void dropForWriting(long inode) throws IOException {
        if (drop(inode)) {
            cache.invalidate(inode);
        }
    }

    /** As above, for requests that do not say whether the caller has CAP_FSETID. Root is assumed to have it. */
    void dropForWritingUnlessRoot(long inode) throws IOException {
        if (request.uid() != ROOT) {
            dropForWriting(inode);
        }
    }

    private boolean drop(long inode) throws IOException {
        operations.dropCapability(inode);
        Attributes attributes = operations.attributes(inode);
        int kept = kept(attributes, false);
        if (kept == attributes.mode()) {
            return false;
        }
        operations.change(inode, AttributeChange.ofMode(kept & FileMode.PERMISSIONS));
        return true;
    }

    /**
     * Returns the mode that a file keeps. Checks the groups of the caller only if the result depends on them, because
     * the check takes long.
     */
    private int kept(Attributes file, boolean mayKeepSetGid) {
        int least = FileMode.withoutSetId(file.mode(), false);
        int most = FileMode.withoutSetId(file.mode(), true);
        return least == most || mayKeepSetGid || isOfGroup(file.gid()) ? most : least;
    }

    /** Returns whether the caller is in a group. */
    boolean isOfGroup(int group) {
        return request.caller().gid() == group || groups.contain(request.pid(), group);
    }

    /**
     * Returns the change of attributes to make. A new owner or group removes the bits, whichever user sets it. Root,
     * which has CAP_FSETID, keeps setgid without group execute.
     *
     * @throws PosixException EPERM if the caller may not change the mode
     */
    AttributeChange apply(SetAttributeArguments arguments) throws IOException {
        AttributeChange change = arguments.change();
        long inode = request.node();
        if (arguments.has(SetAttribute.SIZE)) {
            return arguments.has(SetAttribute.KILL_SUIDGID)
                    ? withoutPrivileges(change, operations.attributes(inode), false)
                    : change;
        }
        if (arguments.has(SetAttribute.UID | SetAttribute.GID)) {
            return withoutPrivileges(change, operations.attributes(inode), request.uid() == ROOT);
        }
        if (arguments.hasNothingBut(SetAttribute.CTIME)) {
            return applyDisguised(arguments, change, operations.attributes(inode));
        }
        return change;
    }

    /**
     * Handles a SETATTR that sets nothing, or only the change time. With the change time, or for an inode that is
     * neither a file nor a directory, it was chown(-1, -1), which any user may call. Otherwise the kernel wants
     * privileges removed before fallocate or copy_file_range.
     */
    private AttributeChange applyDisguised(SetAttributeArguments arguments, AttributeChange change, Attributes inode)
            throws IOException {
        if (FileMode.isRegular(inode.mode()) && !arguments.has(SetAttribute.CTIME)) {
            if (request.uid() != ROOT) {
                drop(inode.inode());
            }
            return change;
        }
        AttributeChange changed = withoutPrivileges(change, inode, request.uid() == ROOT);
        if (changed.mode() != null && request.uid() != ROOT && request.uid() != inode.uid()) {
            throw new PosixException(PosixException.Reason.EPERM, "the mode of another user's inode " + inode.inode());
        }
        return changed;
    }

    private AttributeChange withoutPrivileges(AttributeChange change, Attributes inode, boolean mayKeepSetGid) {
        int kept = kept(inode, mayKeepSetGid);
        return kept == inode.mode() ? change : change.withMode(kept & FileMode.PERMISSIONS);
    }

    /**
     * Returns the mode of a new file or node. In a setgid directory it gets the group of the directory. A program then
     * is setgid only if the caller is root or of that group. Kernels before Linux 6.0 leave this to the service.
     */
    int modeOfNew(long directory, int mode) throws IOException {
        int program = FileMode.SETGID | FileMode.GROUP_EXECUTE;
        if ((mode & program) != program || request.uid() == ROOT) {
            return mode;
        }
        Attributes parent = operations.attributes(directory);
        boolean isOthers = (parent.mode() & FileMode.SETGID) != 0 && !isOfGroup(parent.gid());
        return isOthers ? mode & ~FileMode.SETGID : mode;
    }

    /** Removes setgid after a caller who may not keep it has set the access list of a file. */
    void dropSetGid(long inode) throws IOException {
        int mode = operations.attributes(inode).mode();
        if ((mode & FileMode.SETGID) != 0) {
            operations.change(inode, AttributeChange.ofMode(mode & FileMode.PERMISSIONS & ~FileMode.SETGID));
        }
    }
}
