package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.sdfs.fuse.FileMode;
import org.opendedup.sar.sdfs.fuse.FuseOperations;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.SetAttribute;
import org.opendedup.sar.volume.AttributeChange;
import org.opendedup.sar.volume.Attributes;

/**
 * Takes setuid, setgid and capabilities from files that change, which the kernel leaves to the service
 * ({@code FUSE_HANDLE_KILLPRIV_V2}). It says so by flags, and where it has none, by requests that ask for nothing else. The
 * rules are those of Linux's own file systems: a group that may not execute a file keeps setgid if the caller is one of it.
 */
final class Privileges {
    private static final int ROOT = 0;

    private final FuseOperations operations;
    private final KernelCache cache;
    private final SupplementaryGroups groups;
    private final Request request;

    /** @param request the one that is being served */
    Privileges(FuseOperations operations, KernelCache cache, SupplementaryGroups groups, Request request) {
        this.operations = operations;
        this.cache = cache;
        this.groups = groups;
        this.request = request;
    }

    /**
     * A caller without CAP_FSETID changes the bytes of a file. The reply carries no attributes, so the kernel is told before
     * it.
     */
    void dropForWriting(long inode) throws IOException {
        if (drop(inode)) {
            cache.invalidate(inode);
        }
    }

    /** As above, for requests with which the kernel does not say whether the caller has CAP_FSETID: root usually has. */
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

    /** The mode a file keeps. What groups the caller is in takes long to find out, and matters for few files. */
    private int kept(Attributes file, boolean mayKeepSetGid) {
        int least = FileMode.withoutSetId(file.mode(), false);
        int most = FileMode.withoutSetId(file.mode(), true);
        return least == most || mayKeepSetGid || isOfGroup(file.gid()) ? most : least;
    }

    private boolean isOfGroup(int group) {
        return request.caller().gid() == group || groups.contain(request.pid(), group);
    }

    /**
     * What a change of attributes comes to. A new owner or group takes the bits away whoever gives it; root, who has
     * CAP_FSETID, keeps setgid without group execute.
     *
     * @throws PosixException EPERM if the caller may not change the mode
     */
    AttributeChange apply(SetAttributeArguments arguments) throws IOException {
        AttributeChange change = arguments.toChange();
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
     * A request for nothing. With the change time, or for what is neither a file nor a directory, it was chown(-1, -1), which
     * anybody may call; else it is what is left of the kernel's wish to remove privileges before fallocate or copy_file_range.
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

    /** A caller who may not keep setgid has set a file's access list. */
    void dropSetGid(long inode) throws IOException {
        int mode = operations.attributes(inode).mode();
        if ((mode & FileMode.SETGID) != 0) {
            operations.change(inode, AttributeChange.ofMode(mode & FileMode.PERMISSIONS & ~FileMode.SETGID));
        }
    }
}
