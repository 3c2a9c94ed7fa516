package org.opendedup.sdfs.notification;

/** The progress of some work. */
public class SDFSEvent {
    private long count;
    private long maxCount;

    public void setMaxCount(long ct) {
        maxCount = ct;
    }

    public long getMaxCount() {
        return maxCount;
    }

    public void addCount(long ct) {
        count += ct;
    }

    public long getCount() {
        return count;
    }
}
