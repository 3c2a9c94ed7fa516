package org.opendedup.sar.sdfs.jobs;

/** Who or what starts or stops a job or changes its pace; the text is for the log and for reports. */
public enum Cause {
    SDFSCLI("sdfscli"),
    JMX("JMX"),
    SCHEDULE("the schedule"),
    /** A job that an unmount or a crash had stopped goes on. */
    MOUNT("the mount"),
    /** No program has used the volume for some time. */
    IDLE("an idle volume"),
    FULL_DISK("a full disk"),
    /** A disk has little room left. */
    LOW_SPACE("little space"),
    /** The OpenDedup SDFS whose chunks the volume stores. */
    SDFS("SDFS");

    private final String text;

    Cause(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
