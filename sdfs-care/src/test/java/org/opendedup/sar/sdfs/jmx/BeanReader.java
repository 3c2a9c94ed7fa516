package org.opendedup.sar.sdfs.jmx;

import java.util.Objects;
import javax.management.Attribute;

/** Reads attributes and calls operations of a bean that is on no server. */
record BeanReader(RecordBean bean) {
    boolean flag(String name) throws Exception {
        return (boolean) Objects.requireNonNull(bean.getAttribute(name));
    }

    long number(String name) throws Exception {
        return (long) Objects.requireNonNull(bean.getAttribute(name));
    }

    double decimal(String name) throws Exception {
        return (double) Objects.requireNonNull(bean.getAttribute(name));
    }

    String text(String name) throws Exception {
        return (String) Objects.requireNonNull(bean.getAttribute(name));
    }

    void set(String name, Object value) throws Exception {
        bean.setAttribute(new Attribute(name, value));
    }

    void call(String operation) throws Exception {
        bean.invoke(operation, null, null);
    }
}
