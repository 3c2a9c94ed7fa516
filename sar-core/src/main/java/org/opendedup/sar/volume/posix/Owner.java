package org.opendedup.sar.volume.posix;

/**
 * The owner of a new file: the effective user and group of the caller that creates it.
 *
 * @param umask permissions to be removed; applied only if the directory has no default access control list. 0 if they
 *     were already removed elsewhere
 */
public record Owner(int uid, int gid, int umask) {
    public Owner(int uid, int gid) {
        this(uid, gid, 0);
    }

    /** Returns whether quotas do not limit it. */
    public boolean isRoot() {
        return uid == 0;
    }
}
