package org.opendedup.sar.sdfs.fuse.jnr;

import jnr.ffi.Runtime;
import org.opendedup.sar.sdfs.fuse.AccessLists;
import org.opendedup.sar.sdfs.fuse.FuseOperations;

/** The objects that all callbacks of one mount share. */
record Serving(
        Runtime runtime,
        FuseOperations operations,
        PathResolver resolver,
        UnlinkedFiles unlinked,
        OpenFiles openFiles,
        LinkedInodes linked,
        AccessLists accessLists,
        Caller caller,
        ThreadLocal<StatBuffer> stat) {

    static Serving of(FuseOperations operations, LibFuse2 libFuse) {
        UnlinkedFiles unlinked = new UnlinkedFiles(operations);
        Runtime runtime = libFuse.runtime();
        return new Serving(
                runtime,
                operations,
                new PathResolver(operations, unlinked),
                unlinked,
                new OpenFiles(),
                new LinkedInodes(),
                new AccessLists(operations, true),
                new Caller(libFuse),
                ThreadLocal.withInitial(() -> new StatBuffer(runtime)));
    }
}
