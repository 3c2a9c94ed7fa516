package org.opendedup.sar.volume;

/**
 * Who makes a file: the caller's effective user and group.
 *
 * @param umask permissions the caller wants off; heeded only where the directory has no default access list. 0 where somebody
 *     else has taken them off
 */
public record Owner(int uid, int gid, int umask) {
    public Owner(int uid, int gid) {
        this(uid, gid, 0);
    }
}
